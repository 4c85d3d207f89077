// The kind "text": one long sequence of tokens, cut in two. An example is a window of it.
#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <utility>

#include "core/check.h"
#include "data/corpus.h"
#include "data/files.h"
#include "data/text_encoder.h"

namespace heed {

namespace {

// Windows of `context` inputs every `stride` tokens. The target of an input is the token after it.
// With a stride of 1 all windows are full, else the last one ends with the text.
Dataset windows(std::vector<int32_t> tokens, int64_t context, int64_t stride) {
  const int64_t pairs = std::ssize(tokens) - 1;  // of an input and its target
  const int64_t size = stride == 1 ? pairs - context + 1 : (pairs + stride - 1) / stride;
  return {size, [=, tokens = std::move(tokens)](int64_t i, Example& example) {
            const auto start = tokens.begin() + i * stride;
            const auto end = start + std::min(context, pairs - i * stride);
            example.source.clear();
            example.input.assign(start, end);
            example.target.assign(start + 1, end + 1);
            example.prompt = 0;
          }};
}

std::string_view read_all(const DataOptions& options, Files& files, std::string& joined) {
  if (options.paths.empty()) return files.read(options.path, options.level, /*unify=*/true);
  for (const std::string& path : options.paths) joined += files.read(path, options.level, true);
  return joined;
}

// Offset in bytes of the end of the training text: a fraction of the bytes at byte level, else of
// the characters. At word level it is moved to the end of a word.
size_t training_end(Level level, std::string_view text, double fraction) {
  const bool bytes = level == Level::byte;
  const auto size = static_cast<int64_t>(bytes ? text.size() : character_count(text));
  size_t offset = 0;
  for (auto n = static_cast<int64_t>(static_cast<double>(size) * fraction); n > 0; --n)
    offset += bytes ? 1 : character_length(text[offset]);
  return level == Level::word ? std::min(text.find_first_of(white_space, offset), text.size())
                              : offset;
}

Corpus load_text(const DataOptions& options, Files& files, const LoadRequest& request) {
  std::string joined;
  const std::string_view text = read_all(options, files, joined);
  const size_t cut = training_end(options.level, text, 1 - options.val_fraction);
  const std::string& path = files.paths()[0];
  check_input(cut > 0, "{}: too short: nothing of it is for training", path);
  TextEncoder encoder(options, request.existing, request.existing.target);
  std::vector<int32_t> train, val;
  encoder.read(text.substr(0, cut), train);
  encoder.read(text.substr(cut), val);
  encoder.count(train);
  Corpus corpus;
  encoder.choose({}, corpus.notes);
  encoder.encode(train);
  encoder.encode(val);

  const size_t count = train.size() + val.size();
  const char* const name = name_of(levels, options.level);
  check_input(std::ssize(train) > options.context,
              "{}: too short: {} of its {} {}s are for training, and `context` = {} needs {}", path,
              train.size(), count, name, options.context, options.context + 1);
  check_input(options.val_fraction == 0 || val.size() >= 2,
              "{}: {} of {} {}s are for validation, which needs 2: raise `val_fraction`", path,
              val.size(), count, name);
  corpus.source = corpus.target = std::make_shared<TextCodec>(encoder.codec()->without_marks());
  corpus.longest_input = options.context;
  corpus.notes.push_back(fmt::format("{} {}s for training, {} for validation; vocabulary of {}",
                                     train.size(), name, val.size(),
                                     corpus.source->vocabulary().size()));
  if (!val.empty()) {
    const size_t first = corpus.source->decode(std::span(val).first(1)).size();  // no target
    corpus.target_bytes["val"] = static_cast<int64_t>(text.size() - cut - first);
    corpus.splits["val"] = windows(std::move(val), options.context, options.context);
  }
  corpus.splits["train"] = windows(std::move(train), options.context, 1);
  return corpus;
}

}  // namespace

const DataKind data_kinds::text = {.name = "text",
                                   .keys = {"path", "paths", "level", "tokenizer", "vocabulary",
                                            "context", "min_count", "max_vocabulary"},
                                   .framings = {ModelKind::language_model},
                                   .load = load_text};

}  // namespace heed
