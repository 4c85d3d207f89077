#include "apps/inference/attended_example.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/inference/evaluation.h"
#include "apps/inference/predictions.h"
#include "apps/inference/scores.h"

namespace heed {
namespace {

constexpr int64_t max_recorded = 4096;  // 64 MB of weights per head

void check_count(const char* option, int64_t count, int64_t max) {
  check_input(count > 0, "{}: the text is empty", option);
  check_input(count <= max, "{}: {} tokens are more than the {} that the model reads at once",
              option, count, max);
}

// Returns the number of tokens that the model can read at once, and that fit a picture.
int64_t max_tokens(const Experiment& experiment) {
  const int64_t context = context_length(experiment);
  return context > 0 ? std::min(context, max_recorded) : max_recorded;
}

Ids batch_of(const Sequence& sequence) {
  Ids ids = Ids::empty({1, std::ssize(sequence)});
  std::copy(sequence.begin(), sequence.end(), ids.mutable_data());
  return ids;
}

Ids length_of(const Sequence& sequence) {
  return Ids::full({1}, static_cast<int32_t>(sequence.size()));
}

std::vector<std::string> token_labels(const TextCodec& codec, const Ids& ids) {
  std::vector<std::string> labels;
  for (int64_t i = 0; i < ids.size(); ++i) labels.push_back(token_label(codec, ids[i]));
  return labels;
}

struct ExampleBuilder {
  const ExampleRequest& request;
  const Experiment& experiment;
  const Corpus& corpus;
  const int64_t longest = max_tokens(experiment);
  AttendedExample result = {};

  void set_input(const Sequence& ids) {
    result.inputs.input = batch_of(ids);
    result.inputs.input_lengths = length_of(ids);
  }

  // A prompt and its continuation: the target if there is one, or for a task the generated one.
  void add_prompt(const Model& model) {
    const TextCodec& codec = *corpus.target;
    result.source = *request.text;
    Sequence ids = in_context(request.option, [&] { return codec.prompt(result.source); });
    check_count(request.option, result.source.empty() ? 0 : std::ssize(ids), longest);
    check_input(corpus.prompt_length == 0 || std::ssize(ids) == corpus.prompt_length,
                "{}: a prompt of this task has {} tokens, not {}", request.option,
                corpus.prompt_length, ids.size());
    Sequence target;
    if (request.target) {
      target = in_context("--target", [&] { return codec.encode(*request.target); });
      check_count("--target", std::ssize(ids) + std::ssize(target), longest + 1);
    } else if (has_exact_match(experiment) && !corpus.format.at_positions) {
      GenerationOptions options;
      options.sampling.temperature = 0;
      options.context = longest;
      options.max_length = corpus.target_length > 0
                               ? corpus.target_length
                               : max_output_length(std::ssize(ids), longest + 1 - std::ssize(ids));
      target = continuations(model, codec.vocabulary(), {&ids, 1}, options)[0][0].tokens;
    }
    result.target = codec.decode(target);
    ids.insert(ids.end(), target.begin(), target.end());
    // The last token of a target of fixed length is predicted, but never read.
    const bool is_too_long = std::ssize(ids) > longest;
    if (is_too_long || (corpus.target_length > 0 && !target.empty())) ids.pop_back();
    set_input(ids);
  }

  // A line for an encoder.
  void add_line() {
    result.source = *request.text;
    check_input(result.source.find('\n') == std::string::npos,
                "{}: more than one line; give one line", request.option);
    const Sequence ids =
        in_context(request.option, [&] { return corpus.source->encode(result.source); });
    check_count(request.option, std::ssize(ids), longest);
    if (experiment.model.kind != ModelKind::seq2seq) return set_input(ids);
    result.inputs.source = batch_of(ids);
    result.inputs.source_lengths = length_of(ids);
  }

  // Example N of a split of the run's data.
  void add_example() {
    const int64_t index = *request.example;
    const std::string split = split_or_default(corpus, request.split);
    const Dataset& dataset = split_of(corpus, split);
    check_input(index < dataset.size, "--example {}: {} has {} examples, counted from 0", index,
                split, dataset.size);
    Batches batches = Batches::in_order(dataset, corpus.framing, 1);
    Batch batch;
    batches.get(index, batch);
    result.inputs = batch;
    result.source = fmt::format("{} example {}", split, index);
    const auto check_size = [&](int64_t positions) {
      check_input(positions <= max_recorded,
                  "--example {}: {} positions are more than {}, too many to record", index,
                  positions, max_recorded);
    };
    if (batch.source) check_size(batch.source.size());
    if (batch.input) check_size(batch.input.size());
    if (batch.features) check_size(batch.features.dim(1));
  }

  // The input of a decoder: the target if there is one, or the generated output.
  void add_decoder_input(const Model& model) {
    const TextCodec& codec = *corpus.target;
    Sequence target;
    if (request.target) {
      target = in_context("--target", [&] { return codec.encode(*request.target); });
      check_count("--target", std::ssize(target) + 1, longest);
    } else {
      GenerationOptions options;
      options.max_length = std::min(
          max_output_length(result.inputs.source_lengths[0], learned_positions(experiment.model)),
          longest);
      target = outputs(model, codec.vocabulary(), result.inputs, options)[0][0].tokens;
    }
    result.target = codec.decode(target);
    target.insert(target.begin(), codec.vocabulary().begin());
    if (std::ssize(target) > longest) target.pop_back();  // predicted, but never read
    set_input(target);
  }
};

}  // namespace

PositionLabels labels_of(const Inputs& inputs, const Corpus& corpus) {
  PositionLabels labels;
  const bool has_decoder = corpus.framing != ModelKind::classifier;
  if (has_decoder && inputs.input)
    labels.target = token_labels(*(corpus.target ? corpus.target : corpus.source), inputs.input);
  if (corpus.format.two_sources) {
    labels.source = token_labels(*corpus.source, inputs.source);
    const std::vector<std::string> cells = position_labels(inputs.features.dim(1), corpus.grid);
    (has_decoder ? labels.features : labels.target) = cells;
    return labels;
  }
  if (corpus.format.features > 0)
    (corpus.framing == ModelKind::language_model ? labels.target : labels.source) =
        position_labels(inputs.features.dim(1), corpus.grid);
  else if (corpus.framing != ModelKind::language_model)
    labels.source = token_labels(*corpus.source, has_decoder ? inputs.source : inputs.input);
  return labels;
}

AttendedExample attended_example(const ExampleRequest& request, const Experiment& experiment,
                                 const Corpus& corpus, const Model& model) {
  const ModelKind kind = experiment.model.kind;
  check_input(!request.target || kind != ModelKind::classifier,
              "--target is for models that generate, and this run is a classifier");
  check_input(!request.target || !request.example || kind == ModelKind::seq2seq,
              "--target: an example of a language model already has a target");
  ExampleBuilder builder{request, experiment, corpus};
  if (request.example)
    builder.add_example();
  else if (kind == ModelKind::language_model)
    builder.add_prompt(model);
  else
    builder.add_line();
  AttendedExample& result = builder.result;
  if (kind == ModelKind::seq2seq) builder.add_decoder_input(model);
  if (kind == ModelKind::classifier && !corpus.labels.empty() && !corpus.format.at_positions) {
    const int32_t label = predicted_classes(model, result.inputs)[0];
    result.target = corpus.labels.at(static_cast<size_t>(label));
  }
  result.labels = labels_of(result.inputs, corpus);
  return result;
}

}  // namespace heed
