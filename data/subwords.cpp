#include "data/subwords.h"

#include <fmt/core.h>

#include <algorithm>
#include <exception>
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/check.h"
#include "core/text.h"
#include "data/vocabulary.h"

namespace heed {

namespace {

constexpr std::string_view space_piece = "\u2581";  // stands for a space
constexpr size_t longest_part = 1 << 14;            // in bytes

// Calls visit(part) for the parts of a text in which SentencePiece may look for pieces: lines with
// their "\n", and parts of longer lines.
template <class Visit>
void for_each_part(std::string_view text, Visit visit) {
  while (!text.empty()) {
    size_t length = std::min(text.find('\n'), text.size() - 1) + 1;
    if (length > longest_part) {
      length = text.rfind(' ', longest_part);
      if (length == text.npos || length == 0) length = longest_part;
      while ((static_cast<unsigned char>(text[length]) & 0xC0) == 0x80) --length;
    }
    visit(text.substr(0, length));
    text.remove_prefix(length);
  }
}

// The number of bytes of the distinct words in some parts. Words are separated by spaces.
size_t distinct_bytes(const std::vector<std::string_view>& parts) {
  std::unordered_set<std::string_view> words;
  size_t bytes = 0;
  for (std::string_view part : parts)
    while (!part.empty()) {
      const size_t length = std::min(part.find(' '), part.size() - 1) + 1;
      if (words.insert(part.substr(0, length)).second) bytes += length;
      part.remove_prefix(length);
    }
  return bytes;
}

// Parts of texts, as the trainer reads them.
class Parts final : public sentencepiece::SentenceIterator {
 public:
  explicit Parts(std::vector<std::string_view> parts) : parts_(std::move(parts)) {
    parts_.push_back(" ");  // so that the space occurs, as required_chars demands
    read();
  }
  bool done() const override { return next_ > parts_.size(); }
  void Next() override { read(); }
  const std::string& value() const override { return value_; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  void read() {
    if (next_ < parts_.size()) value_ = parts_[next_];
    ++next_;
  }

  std::vector<std::string_view> parts_;
  std::string value_;
  size_t next_ = 0;  // after value_
};

// Reads the fields of a protocol buffer, as far as they have the wire types 0, 1, 2 and 5.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : bytes_(bytes) {}
  // Returns false at the end, or where the bytes are damaged.
  bool next() {
    const uint64_t tag = varint();
    if (bytes_.empty()) return false;
    field_ = tag >> 3;
    uint64_t length = 0;
    switch (tag & 7) {
      case 0:
        varint();
        break;
      case 1:
        length = 8;
        break;
      case 2:
        length = varint();
        break;
      case 5:
        length = 4;
        break;
      default:
        return false;
    }
    if (length > bytes_.size()) return false;
    content_ = bytes_.substr(0, length);
    bytes_.remove_prefix(length);
    return true;
  }
  uint64_t field() const { return field_; }
  std::string_view content() const { return content_; }

 private:
  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0; !bytes_.empty() && shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes_[0]);
      bytes_.remove_prefix(1);
      value |= uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) break;
    }
    return value;
  }

  std::string_view bytes_, content_;
  uint64_t field_ = 0;
};

// Returns whether a model has a table of characters to replace. SentencePiece does not check such a
// table, and a damaged one makes it read outside of its memory.
bool normalises(std::string_view model) {
  constexpr uint64_t normalizer = 3, denormalizer = 5, table = 2;  // of sentencepiece_model.proto
  for (WireReader fields(model); fields.next();) {
    if (fields.field() != normalizer && fields.field() != denormalizer) continue;
    for (WireReader parts(fields.content()); parts.next();)
      if (parts.field() == table && !parts.content().empty()) return true;
  }
  return false;
}

// A piece as text: with spaces for "▁".
std::string with_spaces(std::string piece) {
  for (size_t at = 0; (at = piece.find(space_piece, at)) != piece.npos; ++at)
    piece.replace(at, space_piece.size(), " ");
  return piece;
}

constexpr const char* how_to_train =
    "train one with spm_train --normalization_rule_name=identity --remove_extra_whitespaces=false "
    "--add_dummy_prefix=false --byte_fallback=true";

}  // namespace

Subwords::Subwords(std::string model)
    : model_(std::move(model)), processor_(new sentencepiece::SentencePieceProcessor) {
  check_input(!normalises(model_), "the tokenizer changes characters of its texts; {}",
              how_to_train);
  try {
    const auto status = processor_->LoadFromSerializedProto(model_);
    check_input(status.ok(), "not a model of SentencePiece, or a damaged one");
  } catch (const std::exception&) {  // of the dictionary that SentencePiece uses
    throw InputError("not a model of SentencePiece, or a damaged one");
  }
  for (int id = 0; id < processor_->GetPieceSize(); ++id) {
    const std::string& piece = pieces_.emplace_back(processor_->IdToPiece(id));
    const bool is_text = !processor_->IsControl(id) && !processor_->IsUnknown(id);
    check_input(!is_text || !is_special(piece), "the tokenizer has {} as an ordinary piece",
                in_quotes(piece));
    std::string& text = texts_.emplace_back();
    if (is_text) text = with_spaces(piece);
    if (processor_->IsUnknown(id)) text = unknown_token;
  }
  for (int byte = 0; byte < 256; ++byte) {
    const int id = byte_id(byte);
    check_input(processor_->IsByte(id), "the tokenizer has no piece for the byte {:#04x}; {}", byte,
                how_to_train);
    texts_[static_cast<size_t>(id)] = static_cast<char>(byte);
  }
  check_lossless();
}

Subwords::~Subwords() = default;

int32_t Subwords::byte_id(int byte) const {
  return processor_->PieceToId(fmt::format("<0x{:02X}>", byte));
}

void Subwords::check_lossless() const {
  constexpr std::string_view probe =
      "  a\tb  C \r\n\n \uFB01 e\u0301 \u00E9\u00A0\U0001F600 \uFEFF\u2585\u2581 <unk> .\x7F ";
  std::vector<int32_t> ids;
  append(probe, ids);
  std::string decoded;
  for (const int32_t id : ids) decoded += text(id);
  check_input(decoded == probe, "the tokenizer does not restore its texts; {}", how_to_train);
}

void Subwords::append(std::string_view text, std::vector<int32_t>& ids) const {
  for_each_part(text, [&](std::string_view part) {
    for (size_t at; (at = part.find(space_piece)) != part.npos;) {
      append_part(part.substr(0, at), ids);
      for (const char byte : space_piece) ids.push_back(byte_id(static_cast<unsigned char>(byte)));
      part.remove_prefix(at + space_piece.size());
    }
    append_part(part, ids);
  });
}

void Subwords::append_part(std::string_view part, std::vector<int32_t>& ids) const {
  std::vector<int> found;
  const auto status = processor_->Encode(part, &found);
  size_t length = 0;
  for (const int id : found) length += text(id).size();
  check_input(status.ok() && length == part.size(), "the tokenizer cannot encode {}",
              in_quotes(part));
  ids.insert(ids.end(), found.begin(), found.end());
}

std::vector<std::string_view> Subwords::training_parts(const std::vector<std::string_view>& texts) {
  std::vector<std::string_view> parts;
  for (const std::string_view text : texts)
    for_each_part(text, [&](std::string_view part) { parts.push_back(part); });
  const size_t step = (distinct_bytes(parts) + max_distinct_bytes - 1) / max_distinct_bytes;
  if (step <= 1) return parts;
  std::vector<std::string_view> chosen;
  for (size_t i = 0; i < parts.size(); i += step) chosen.push_back(parts[i]);
  return chosen;
}

std::string Subwords::train(const std::vector<std::string_view>& texts, int64_t pieces) {
  const std::unordered_map<std::string, std::string> options = {
      {"model_type", "bpe"},
      {"vocab_size", std::to_string(pieces)},
      {"hard_vocab_limit", "false"},  // fewer pieces if the texts have no more
      {"character_coverage", "0.9995"},
      {"required_chars", std::string(space_piece)},
      {"max_sentence_length", std::to_string(longest_part)},
      {"byte_fallback", "true"},
      {"normalization_rule_name", "identity"},
      {"remove_extra_whitespaces", "false"},
      {"add_dummy_prefix", "false"},
      {"unk_id", "0"},
      {"bos_id", "-1"},
      {"eos_id", "-1"},
      {"pad_id", "-1"},
      {"num_threads", "1"},
      {"minloglevel", "3"}};
  Parts parts(training_parts(texts));
  std::string model;
  const auto status = sentencepiece::SentencePieceTrainer::Train(options, &parts, &model);
  // ./src/file.cc(580) [condition] Vocabulary size is smaller than required_chars. 200 vs 344. …
  std::string_view reason = status.message();
  reason.remove_prefix(reason.rfind("] ") == reason.npos ? 0 : reason.rfind("] ") + 2);
  check_input(status.ok(),
              "`max_vocabulary` = {}: expected room for 257 pieces for bytes and <unk>, and for "
              "the characters of the training texts; SentencePiece says: {}",
              pieces, shortened(reason.substr(0, reason.find(" Increase"))));
  return model;
}

}  // namespace heed
