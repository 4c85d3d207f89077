// The kind "text": one long sequence of tokens, cut in two. An example is a window of it.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "data/corpus.h"
#include "data/files.h"
#include "data/text_encoder.h"

namespace heed {

namespace {

// Windows of `context` inputs every `stride` tokens. The target of an input is the token after it.
// With a stride of 1 all windows are full, else the last one ends with the text.
class Windows final : public Dataset {
 public:
  Windows(std::vector<int32_t> tokens, int64_t context, int64_t stride)
      : tokens_(std::move(tokens)), context_(context), stride_(stride) {}

  int64_t size() const override {
    return stride_ == 1 ? pairs() - context_ + 1 : (pairs() + stride_ - 1) / stride_;
  }
  void get(int64_t i, Example& example) const override {
    const auto start = tokens_.begin() + i * stride_;
    const auto end = start + std::min(context_, pairs() - i * stride_);
    example.source.clear();
    example.input.assign(start, end);
    example.target.assign(start + 1, end + 1);
    example.prompt = 0;
  }

 private:
  int64_t pairs() const { return static_cast<int64_t>(tokens_.size()) - 1; }  // input, target

  std::vector<int32_t> tokens_;
  int64_t context_, stride_;
};

std::string_view read_all(const DataOptions& options, Files& files, std::string& joined) {
  if (options.paths.empty()) return files.read(options.path, options.level);
  for (const std::string& path : options.paths) joined += files.read(path, options.level);
  return joined;
}

// Offset in bytes of token n.
size_t offset_of(Level level, std::string_view text, int64_t n) {
  size_t offset = 0;
  for (; n > 0; --n) offset += level == Level::byte ? 1 : character_length(text[offset]);
  return offset;
}

Corpus load_text(const DataOptions& options, Files& files) {
  std::string joined;
  const std::string_view text = read_all(options, files, joined);
  const char* const name = name_of(levels, options.level);
  int64_t count = 0;
  for_each_token(options.level, text, [&](std::string_view) { ++count; });
  const auto train_count =
      static_cast<int64_t>(static_cast<double>(count) * (1 - options.val_fraction));
  const int64_t val_count = count - train_count;
  check_input(train_count > options.context,
              "{}: too short: {} of its {} {}s are for training, and data.context = {} needs {}",
              files.paths()[0], train_count, count, name, options.context, options.context + 1);
  check_input(options.val_fraction == 0 || val_count >= 2,
              "{}: {} of {} {}s are for validation, which needs 2: raise data.val_fraction",
              files.paths()[0], val_count, count, name);

  const size_t cut = offset_of(options.level, text, train_count);
  TextEncoder encoder(options);
  encoder.count(text.substr(0, cut));
  encoder.choose({});
  const auto windows = [&](std::string_view part, int64_t stride) {
    std::vector<int32_t> tokens;
    encoder.append(part, tokens);
    return std::make_unique<Windows>(std::move(tokens), options.context, stride);
  };
  Corpus corpus;
  corpus.splits["train"] = windows(text.substr(0, cut), 1);
  if (val_count > 0) corpus.splits["val"] = windows(text.substr(cut), options.context);
  corpus.source = corpus.target = encoder.codec();
  corpus.longest_input = options.context;
  corpus.notes.push_back(fmt::format("{} {}s for training, {} for validation; vocabulary of {}",
                                     train_count, name, val_count,
                                     corpus.source->vocabulary().size()));
  return corpus;
}

void check_level(const DataOptions& options) {
  check_input(options.level != Level::word,
              "data.level = \"word\" is for lines, pairs and labelled lines: read a text by "
              "character or byte");
}

}  // namespace

const DataKind data_kinds::text = {
    .name = "text",
    .keys = {"path", "paths", "level", "context", "min_count", "max_vocabulary"},
    .framings = {Framing::language_model},
    .check = check_level,
    .load = load_text};

}  // namespace heed
