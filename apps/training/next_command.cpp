#include "apps/training/next_command.h"

#include <algorithm>
#include <span>

#include "apps/inference/scores.h"
#include "apps/support/shell.h"
#include "core/check.h"
#include "core/text.h"
#include "nn/options.h"

namespace heed {
namespace {

constexpr int64_t max_examples = 100;               // to look for a suitable input in
constexpr size_t max_bytes = 200, max_prompt = 24;  // of an input; tokens of a prompt

// Returns the name of the split to take an example from.
std::string shown_split(const Corpus& corpus) {
  const std::vector<std::string> measured = measured_splits(corpus);
  return corpus.splits.contains("test") ? "test" : measured.empty() ? "train" : measured[0];
}

// Returns whether the text can be typed on one line, and read back as these tokens.
bool is_typed_as(std::string_view text, std::span<const int32_t> ids, const TextCodec& codec) {
  if (text.find_first_not_of(' ') == text.npos || text.size() > max_bytes ||
      text.find_first_of("\n\t") != text.npos || escaped(text) != text)
    return false;
  try {
    return std::ranges::equal(codec.encode(text), ids);
  } catch (const InputError&) {
    return false;  // a special token
  }
}

// Returns a text for a model to read, or "" if this example has none that can be typed: the source
// of an encoder-decoder, the problem of a task, or the first half of a text, on one line.
std::string input_of(const Example& example, const Corpus& corpus) {
  const bool is_encoded = corpus.framing == ModelKind::seq2seq;
  const TextCodec& codec = is_encoded ? *corpus.source : *corpus.target;
  const std::span<const int32_t> ids = source_of(corpus, example);
  const bool is_whole = is_encoded || example.prompt > 0;
  for (size_t count = is_whole ? ids.size() : std::min((ids.size() + 1) / 2, max_prompt); count > 0;
       --count) {
    const std::string text = codec.decode(ids.first(count));
    if (is_typed_as(text, ids.first(count), codec)) return text;
    if (is_whole) break;
  }
  return "";
}

std::string test_input(const Corpus& corpus) {
  const Dataset& dataset = split_of(corpus, shown_split(corpus));
  Example example;
  for (int64_t i = 0; i < std::min(max_examples, dataset.size); ++i) {
    dataset.get(i, example);
    if (std::string input = input_of(example, corpus); !input.empty()) return input;
  }
  return "";
}

// Returns a command that prints a text and a line feed.
std::string echo(const std::string& text) {
  const bool is_plain = !text.starts_with('-') && text.find('\\') == text.npos;
  return (is_plain ? "echo " : "printf '%s\\n' ") + shell_word(text);
}

}  // namespace

std::string next_command(const std::string& run, const Experiment& experiment,
                         const Corpus& corpus) {
  const ModelKind kind = experiment.model.kind;
  if (kind == ModelKind::language_model) {
    if (corpus.format.features > 0 || corpus.format.numbers) return heed_command({"evaluate", run});
    const std::string prompt = test_input(corpus);
    if (prompt.empty() && has_exact_match(experiment)) return heed_command({"evaluate", run});
    if (prompt.empty()) return heed_command({"generate", run});
    return prompt.starts_with('-') ? heed_command({"generate", run, "--prompt=" + prompt})
                                   : heed_command({"generate", run, "--prompt", prompt});
  }
  if (kind == ModelKind::seq2seq && corpus.format.features == 0)
    if (const std::string line = test_input(corpus); !line.empty())
      return echo(line) + " | " + heed_command({"generate", run});
  const std::string split = shown_split(corpus);
  if (!has_attention(experiment.model))
    return split == "train" ? heed_command({"evaluate", run, "--split", split})
                            : heed_command({"evaluate", run});
  std::vector<std::string> arguments = {"attend", run, "--example", "0"};
  if (split == "train") arguments.insert(arguments.end(), {"--split", split});
  return heed_command(arguments);
}

}  // namespace heed
