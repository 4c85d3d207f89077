#include "apps/inference/predictions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/inference/evaluation.h"
#include "apps/support/numbers.h"
#include "apps/support/together.h"
#include "core/inference_scope.h"
#include "core/joined.h"
#include "core/standard_ops.h"
#include "core/text.h"

namespace heed {
namespace {

constexpr int64_t sample_length = 200;  // tokens
constexpr uint64_t sample_seed = 1;

std::vector<Example> first_examples(const Dataset& dataset, int64_t count) {
  std::vector<Example> examples(static_cast<size_t>(std::min(count, dataset.size)));
  for (size_t i = 0; i < examples.size(); ++i) dataset.get(static_cast<int64_t>(i), examples[i]);
  return examples;
}

// Returns what add(batch, examples, results) appends for the batches of the first `count` examples
// at least. The ranks share the batches.
template <class Result, class Add>
std::vector<Result> predicted(const Dataset& dataset, ModelKind framing, size_t count,
                              const Add& add) {
  constexpr int64_t batch_size = 32;
  Batches batches = Batches::in_order(dataset, framing, batch_size);
  const RankShare own((static_cast<int64_t>(count) + batch_size - 1) / batch_size);
  std::vector<Result> results;
  Batch batch;
  for (int64_t i = own.first; i < own.last; ++i) {
    const Examples read = batches.examples(i);
    batches.write(read, batch);
    add(batch, read, results);
  }
  return concatenated(results);
}

// Returns the targets that are not ignored, decoded up to <eos>.
std::string expected_text(const TextCodec& codec, const Example& example) {
  Sequence ids;
  for (const int32_t id : example.target)
    if (id >= 0) ids.push_back(id);
  return codec.decode(ids);
}

// Returns the source as text; for vectors, their number or grid.
std::string source_text(const Corpus& corpus, const Example& example) {
  if (corpus.format.features == 0) return corpus.source->decode(source_of(corpus, example));
  std::string text = corpus.format.two_sources ? corpus.source->decode(example.source) + " " : "";
  text += corpus.grid.empty() ? fmt::format("[{} vectors", example.positions)
                              : fmt::format("[{}", joined(corpus.grid, " × "));
  if (corpus.format.has_edges) text += fmt::format(", {} edges", example.sender.size());
  return text + "]";
}

std::vector<Prediction> predict_outputs(const Model& model, const Corpus& corpus,
                                        const Dataset& dataset,
                                        const std::vector<Example>& examples, int64_t positions,
                                        int64_t beam) {
  GenerationOptions options;
  options.beam = beam;
  options.max_length = max_output_length(corpus.longest_source, positions);
  const std::vector<std::string> found =
      predicted<std::string>(dataset, corpus.framing, examples.size(),
                             [&](const Batch& batch, Examples, std::vector<std::string>& texts) {
                               for (const std::vector<Hypothesis>& each :
                                    outputs(model, corpus.target->vocabulary(), batch, options))
                                 texts.push_back(corpus.target->decode(each[0].tokens));
                             });
  std::vector<Prediction> results;
  for (size_t i = 0; i < examples.size(); ++i)
    results.push_back(
        {source_text(corpus, examples[i]), found[i], expected_text(*corpus.target, examples[i])});
  return results;
}

std::vector<Prediction> predict_continuations(const Model& model, const Corpus& corpus,
                                              const std::vector<Example>& examples,
                                              int64_t context) {
  const TextCodec& codec = *corpus.target;
  GenerationOptions options;
  options.sampling.temperature = 0;
  options.scored = false;
  options.context = context;
  int64_t longest = 0;
  std::vector<Sequence> prompts;
  std::vector<int64_t> lengths;  // of the targets
  for (const Example& example : examples) {
    prompts.emplace_back(example.input.begin(), example.input.begin() + example.prompt);
    lengths.push_back(std::count_if(example.target.begin(), example.target.end(),
                                    [](int32_t id) { return id >= 0; }));
    longest = std::max(longest, lengths.back());
  }
  options.max_length = longest;
  Found found = continuations(model, codec.vocabulary(), prompts, options);
  std::vector<Prediction> results;
  for (size_t i = 0; i < examples.size(); ++i) {
    Sequence& tokens = found[i][0].tokens;
    tokens.resize(std::min(tokens.size(), static_cast<size_t>(lengths[i])));
    results.push_back({source_text(corpus, examples[i]), codec.decode(tokens),
                       expected_text(codec, examples[i])});
  }
  return results;
}

std::vector<Prediction> random_samples(const Model& model, const TextCodec& codec, int64_t count,
                                       int64_t context) {
  GenerationOptions options;
  options.count = count;
  options.scored = false;
  options.max_length = sample_length;
  options.context = context;
  options.seed = sample_seed;
  std::vector<Prediction> results;
  const Sequence prompt = default_prompt(codec);
  const Found found = continuations(model, codec.vocabulary(), {&prompt, 1}, options);
  for (const Hypothesis& each : found[0]) results.push_back({"", codec.decode(each.tokens), ""});
  return results;
}

// Returns the labels or tokens of the positions that have a target, or that of the whole.
std::string labels_text(const Corpus& corpus, const int32_t* ids,
                        std::span<const int32_t> targets) {
  Sequence kept;
  for (size_t t = 0; t < targets.size(); ++t)
    if (targets[t] != ignored) kept.push_back(ids[t]);
  return output_text(corpus, kept);
}

// Predicts labels, or tokens at positions.
std::vector<Prediction> predict_labels(const Model& model, const Corpus& corpus,
                                       const Dataset& dataset,
                                       const std::vector<Example>& examples) {
  const std::vector<std::string> found = predicted<std::string>(
      dataset, corpus.framing, examples.size(),
      [&](const Batch& batch, Examples, std::vector<std::string>& texts) {
        const std::vector<int32_t> ids = predicted_classes(model, batch);
        const size_t rows = static_cast<size_t>(batch.target.dim(0)), time = ids.size() / rows;
        for (size_t b = 0; b < rows; ++b)
          texts.push_back(
              labels_text(corpus, &ids[b * time], {batch.target.data() + b * time, time}));
      });
  std::vector<Prediction> results;
  for (size_t i = 0; i < examples.size(); ++i) {
    const std::vector<int32_t>& targets = examples[i].target;
    results.push_back(
        {source_text(corpus, examples[i]), found[i], labels_text(corpus, targets.data(), targets)});
  }
  return results;
}

// Returns some of the numbers that have a target: the last, with a mark before if there are more.
std::string numbers_text(const std::vector<double>& numbers, const std::vector<double>& targets) {
  constexpr int most = 4;
  std::string text;
  int count = 0;
  for (size_t i = numbers.size(); i-- > 0;) {
    if (std::isnan(targets[i])) continue;
    if (++count > most) return "… " + text;
    text = four_digits(numbers[i]) + (text.empty() ? "" : " ") + text;
  }
  return text;
}

std::vector<Prediction> predict_numbers(const Model& model, const Corpus& corpus,
                                        const Dataset& dataset,
                                        const std::vector<Example>& examples) {
  const InferenceScope here;
  const std::vector<double> found =
      predicted<double>(dataset, corpus.framing, examples.size(),
                        [&](const Batch& batch, Examples read, std::vector<double>& numbers) {
                          const Tensor outputs = model.logits(batch);
                          const real* row = outputs.data();
                          for (const Example* example : read) {
                            numbers.insert(numbers.end(), row, row + example->values.size());
                            row += outputs.size() / batch.target.dim(0);
                          }
                        });
  std::vector<Prediction> results;
  auto next = found.cbegin();
  for (const Example& example : examples) {
    Prediction& result = results.emplace_back(Prediction{source_text(corpus, example), "", ""});
    result.expected_numbers.assign(example.values.begin(), example.values.end());
    const auto end = next + std::ssize(example.values);
    result.numbers.assign(next, end);
    next = end;
    result.predicted = numbers_text(result.numbers, result.expected_numbers);
    result.expected = numbers_text(result.expected_numbers, result.expected_numbers);
  }
  return results;
}

}  // namespace

std::vector<Prediction> predictions(const Model& model, const Corpus& corpus,
                                    const Dataset& dataset, int64_t count, int64_t positions,
                                    int64_t beam) {
  const std::vector<Example> examples = first_examples(dataset, count);
  if (examples.empty()) return {};
  if (corpus.format.numbers) return predict_numbers(model, corpus, dataset, examples);
  switch (model.kind()) {
    case ModelKind::seq2seq:
      return predict_outputs(model, corpus, dataset, examples, positions, beam);
    case ModelKind::classifier:
      return predict_labels(model, corpus, dataset, examples);
    case ModelKind::language_model:
      if (corpus.format.features > 0 || corpus.format.at_positions)
        return predict_labels(model, corpus, dataset, examples);
      break;
  }
  if (examples[0].prompt > 0) return predict_continuations(model, corpus, examples, positions);
  return random_samples(model, *corpus.target, count, positions);
}

// Returns f(corpus, example) of every example.
template <class F>
static auto of_examples(const Corpus& corpus, const Dataset& dataset, const F& f) {
  std::vector<decltype(f(corpus, Example()))> results;
  Example example;
  for (int64_t i = 0; i < dataset.size; ++i) {
    dataset.get(i, example);
    results.push_back(f(corpus, example));
  }
  return results;
}

std::string output_text(const Corpus& corpus, std::span<const int32_t> ids) {
  if (corpus.framing != ModelKind::classifier) return corpus.target->decode(ids);
  std::vector<std::string> labels;
  for (const int32_t id : ids) labels.push_back(corpus.labels[static_cast<size_t>(id)]);
  return joined(labels, " ");
}

std::vector<std::string> source_texts(const Corpus& corpus, const Dataset& dataset) {
  return of_examples(corpus, dataset, source_text);
}

std::vector<int64_t> source_lengths(const Corpus& corpus, const Dataset& dataset) {
  return of_examples(corpus, dataset, source_length);
}

int64_t learned_positions(const ModelOptions& model) {
  return model.positional.kind->is_limited ? model.positional.max_length : 0;
}

int64_t context_length(const Experiment& experiment) {
  if (const int64_t positions = learned_positions(experiment.model)) return positions;
  return experiment.data.kind == &data_kinds::text ? experiment.data.context : 0;
}

Sequence default_prompt(const TextCodec& codec) {
  const Vocabulary& vocabulary = codec.vocabulary();
  if (vocabulary.begin() != Vocabulary::none) return {vocabulary.begin()};
  if (codec.subwords()) return codec.encode("\n");
  const int32_t new_line = vocabulary.find(codec.level() == Level::byte ? "0a" : "\n");
  return {std::max(new_line, 0)};
}

std::string sample_text(const Prediction& sample) {
  const std::string predicted = escaped(sample.predicted);
  if (sample.expected.empty()) return "  " + predicted;
  const std::string arrow = fmt::format("  {} → {}", escaped(sample.source), predicted);
  if (!sample.numbers.empty()) return fmt::format("{}  (target: {})", arrow, sample.expected);
  return sample.predicted == sample.expected
             ? arrow
             : fmt::format("{}  (wrong: {})", arrow, escaped(sample.expected));
}

}  // namespace heed
