#include "apps/inference/attended_example.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "apps/inference/evaluation.h"
#include "apps/inference/predictions.h"
#include "apps/inference/scores.h"
#include "apps/support/files.h"
#include "apps/support/log.h"

namespace heed {
namespace {

constexpr int64_t most_places = 4096;    // whose weights are 64 MB a head
constexpr int64_t most_input = 1 << 20;  // bytes

// What --input says: the text itself, the contents of a file, or standard input.
std::string text_of(const std::string& input) {
  std::error_code ignored;
  std::string text = input;
  if (input == "-") {
    text.resize(most_input + 1);
    std::cin.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<size_t>(std::cin.gcount()));
    check_input(static_cast<int64_t>(text.size()) <= most_input,
                "standard input: more than {} bytes", most_input);
  } else if (std::filesystem::is_regular_file(input, ignored)) {
    text = read_file(input, "text", most_input);
    logging::info("--input: the text of the file {}", input);
  } else {
    return text;
  }
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  return text;
}

// f(), whose InputErrors are about an option.
template <class F>
auto for_option(const char* option, F&& f) {
  try {
    return f();
  } catch (const InputError& error) {
    throw InputError(fmt::format("--{}: {}", option, error.what()));
  }
}

void check_count(const char* option, size_t count, int64_t most) {
  check_input(count > 0, "--{}: there is nothing to read in it", option);
  check_input(static_cast<int64_t>(count) <= most,
              "--{}: {} symbols are more than the {} that the model reads at once", option, count,
              most);
}

// How many symbols a model can be shown at once, and its attention drawn.
int64_t longest_of(const Experiment& experiment) {
  if (const int64_t positions = learned_positions(experiment.model))
    return std::min(positions, most_places);
  const bool is_text = experiment.data.kind == DataKind::text;
  return is_text ? std::min(experiment.data.context, most_places) : most_places;
}

Ids row_of(const Sequence& sequence) {
  Ids ids = Ids::empty({1, static_cast<int64_t>(sequence.size())});
  std::copy(sequence.begin(), sequence.end(), ids.data());
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

// A prompt, and what is written behind it: given, or for a problem the model's own answer.
void read_prompt(const ExampleRequest& a, const Experiment& experiment,
                 const SavedVocabulary& saved, const LanguageModel& model,
                 AttendedExample& reading) {
  const TextCodec& codec = *saved.corpus.target;
  const int64_t longest = longest_of(experiment);
  reading.source = text_of(*a.input);
  Sequence ids = for_option("input", [&] { return codec.prompt(reading.source); });
  check_count("input", reading.source.empty() ? 0 : ids.size(), longest);
  check_input(saved.prompt_length == 0 || static_cast<int64_t>(ids.size()) == saved.prompt_length,
              "--input: a problem has {} symbols, not {}", saved.prompt_length, ids.size());
  Sequence answer;
  if (a.target) {
    answer = for_option("target", [&] { return codec.encode(*a.target); });
    check_count("target", ids.size() + answer.size(), longest + 1);
  } else if (is_task(experiment.data.kind)) {
    ContinuationOptions options;
    options.sampling.temperature = 0;
    options.window = longest;
    options.max_length = saved.target_length > 0
                             ? saved.target_length
                             : max_output_length(std::vector<Sequence>{ids},
                                                 longest + 1 - static_cast<int64_t>(ids.size()));
    answer = continuations(model, codec.vocabulary(), {&ids, 1}, options)[0];
  }
  reading.target = codec.decode(answer);
  ids.insert(ids.end(), answer.begin(), answer.end());
  // The last symbol of an answer that has a fixed length is written, and never read.
  const bool is_over = static_cast<int64_t>(ids.size()) > longest;
  if (is_over || (saved.target_length > 0 && !answer.empty())) ids.pop_back();
  reading.inputs.input = row_of(ids);
  reading.inputs.input_lengths = length_of(ids);
}

// A line for an encoder.
void read_line(const ExampleRequest& a, const Experiment& experiment, const TextCodec& codec,
               AttendedExample& reading) {
  reading.source = text_of(*a.input);
  check_input(reading.source.find('\n') == std::string::npos,
              "--input: more than one line; a picture shows one");
  const Sequence ids = for_option("input", [&] { return codec.encode(reading.source); });
  check_count("input", ids.size(), longest_of(experiment));
  const bool is_source = experiment.model.kind == ModelKind::seq2seq;
  (is_source ? reading.inputs.source : reading.inputs.input) = row_of(ids);
  (is_source ? reading.inputs.source_lengths : reading.inputs.input_lengths) = length_of(ids);
}

// Example N of a split of the run's own data.
void read_example(const ExampleRequest& a, const Corpus& corpus, AttendedExample& reading) {
  const std::string split = split_or_default(corpus, a.split);
  const Dataset& dataset = split_of(corpus, split);
  check_input(*a.example < dataset.size(),
              "--example {}: {} has {} examples, the first of which is 0", *a.example, split,
              dataset.size());
  Batches batches = Batches::in_order(dataset, corpus.framing, 1);
  Batch batch;
  batches.get(*a.example, batch);
  reading.inputs = inputs_of(batch);
  reading.source = fmt::format("{} example {}", split, *a.example);
  for (const Ids& ids : {batch.source, batch.input})
    check_input(!ids || ids.size() <= most_places,
                "--example {}: {} symbols are more than {}, and too many to watch", *a.example,
                ids.size(), most_places);
  check_input(!batch.features || batch.features.dim(1) <= most_places,
              "--example {}: more than {} places are too many to watch", *a.example, most_places);
}

// What a decoder has before it: the given answer, or the model's own.
void add_answer(const ExampleRequest& a, const Experiment& experiment, const Corpus& corpus,
                const Seq2Seq& model, AttendedExample& reading) {
  const TextCodec& codec = *corpus.target;
  const int64_t positions = learned_positions(experiment.model), longest = longest_of(experiment);
  Sequence answer;
  if (a.target) {
    answer = for_option("target", [&] { return codec.encode(*a.target); });
    check_count("target", answer.size() + 1, longest);
  } else {
    const auto length = static_cast<size_t>(reading.inputs.source_lengths[0]);
    const std::vector<Sequence> sources = {Sequence(length)};
    OutputOptions options;
    options.max_length = std::min(max_output_length(sources, positions), longest);
    answer = outputs(model, codec.vocabulary(), reading.inputs, options)[0].tokens;
  }
  reading.target = codec.decode(answer);
  answer.insert(answer.begin(), codec.vocabulary().begin());
  if (static_cast<int64_t>(answer.size()) > longest) answer.pop_back();  // written, never read
  reading.inputs.input = row_of(answer);
  reading.inputs.input_lengths = length_of(answer);
}

void add_labels(const Corpus& corpus, AttendedExample& reading) {
  const Inputs& in = reading.inputs;
  PositionLabels& labels = reading.labels;
  const bool writes = corpus.framing != Framing::classifier;
  if (writes) labels.target = token_labels(*corpus.target, in.input);
  if (corpus.format.features > 0)
    labels.source = position_labels(in.features.dim(1), corpus.grid);
  else if (corpus.framing != Framing::language_model)
    labels.source = token_labels(*corpus.source, writes ? in.source : in.input);
}

}  // namespace

AttendedExample attended_example(const ExampleRequest& a, const Experiment& experiment,
                                 const SavedVocabulary& saved, const Corpus& corpus,
                                 const Model& model) {
  const ModelKind kind = experiment.model.kind;
  check_input(!a.target || kind != ModelKind::classifier,
              "--target is for models that write, and this run is a classifier");
  check_input(!a.target || !a.example || kind == ModelKind::seq2seq,
              "--target: an example of a language model has its own");
  AttendedExample reading;
  if (a.example)
    read_example(a, corpus, reading);
  else if (kind == ModelKind::language_model)
    read_prompt(a, experiment, saved, dynamic_cast<const LanguageModel&>(model), reading);
  else
    read_line(a, experiment, *corpus.source, reading);
  if (kind == ModelKind::seq2seq)
    add_answer(a, experiment, corpus, dynamic_cast<const Seq2Seq&>(model), reading);
  if (kind == ModelKind::classifier) {
    const int32_t label =
        predicted_classes(dynamic_cast<const Classifier&>(model), reading.inputs)[0];
    reading.target = corpus.labels.at(static_cast<size_t>(label));
  }
  add_labels(corpus, reading);
  return reading;
}

}  // namespace heed
