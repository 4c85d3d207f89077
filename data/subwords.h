// Subwords: the pieces of a SentencePiece model (Kudo and Richardson 2018, arXiv:1808.06226).
//
// A text is the concatenation of its pieces. A model that changes texts (Unicode normalisation,
// white space added or removed) is rejected. A character that is no piece becomes the pieces of its
// UTF-8 bytes, "<0x00>" to "<0xFF>". So no text has unknown tokens, and decoding restores it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sentencepiece {
class SentencePieceProcessor;
}

namespace heed {

class Subwords {
 public:
  // Reads the content of a model file. Throws InputError if it is none, is damaged, or changes
  // texts.
  explicit Subwords(std::string model);
  ~Subwords();

  // Trains a model by byte pair encoding (Sennrich et al. 2016, arXiv:1508.07909), with at most
  // this number of pieces: <unk>, the 256 bytes, the characters that make up 99.95 % of the texts,
  // and merges. The same texts give the same model. Throws InputError if the characters do not fit.
  static std::string train(const std::vector<std::string_view>& texts, int64_t pieces);
  // Returns what train() reads of the texts: lines, and parts of long lines. Its time grows with
  // the distinct words, where a word is what has no space in it. If these have more than
  // max_distinct_bytes, as a long line of random letters has, it reads every second part, or every
  // third, …
  static std::vector<std::string_view> training_parts(const std::vector<std::string_view>& texts);
  static constexpr size_t max_distinct_bytes = size_t{1} << 21;  // 2 MiB

  const std::string& model() const { return model_; }                 // the content of its file
  const std::vector<std::string>& pieces() const { return pieces_; }  // by id; a space is "▁"

  // Appends the ids of a text. They are SentencePiece's ids of each line with its "\n", where a
  // line of more than 16 KiB is cut before a space. "▁" (U+2581) itself, which SentencePiece reads
  // as a space, becomes bytes. Throws InputError if the model cannot encode the text.
  void append(std::string_view text, std::vector<int32_t>& ids) const;
  // Returns what a piece adds to the text: one byte, or characters, or nothing.
  const std::string& text(int32_t id) const { return texts_[static_cast<size_t>(id)]; }

 private:
  void append_part(std::string_view part, std::vector<int32_t>& ids) const;
  int32_t byte_id(int byte) const;
  void check_lossless() const;

  std::string model_;
  std::unique_ptr<sentencepiece::SentencePieceProcessor> processor_;
  std::vector<std::string> pieces_, texts_;
};

}  // namespace heed
