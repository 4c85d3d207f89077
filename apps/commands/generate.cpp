// heed generate: generates text, or predicts outputs. A language model continues a prompt; the
// other models print one line for each line of input.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <unistd.h>

#include "apps/commands/command.h"
#include "apps/inference/generation.h"
#include "apps/inference/predictions.h"
#include "apps/support/output.h"
#include "apps/training/saved_run.h"

namespace heed {
namespace {

struct GenerateArguments final : CommandArguments {
  std::string path, checkpoint;
  std::optional<int64_t> length;
  // Language models.
  std::optional<std::string> prompt;
  std::optional<int64_t> count, top_k, seed;
  std::optional<double> temperature, top_p;
  // Encoder-decoders and classifiers.
  std::optional<std::string> input;  // a file; standard input without it, or for "-"
  std::optional<int64_t> beam;
  std::optional<double> length_penalty;

  std::vector<Option> options() override {
    constexpr Range counts{1, 1e6};
    constexpr const char* language = "Language models";
    constexpr const char* lines =
        "Encoder-decoders and classifiers: one line of output for each line of input";
    return {
        {"RUN", "", &path, "Folder of the run"},
        checkpoint_option(checkpoint),
        {"--length", "COUNT", &length, "Largest number of tokens to generate", counts},
        {"--prompt", "TEXT", &prompt, "Text to continue", {}, language},
        {"--count", "COUNT", &count, "Number of samples (default: 1)", counts, language},
        {"--temperature",
         "NUMBER",
         &temperature,
         "Divisor of the logits; 0 always takes the most likely token (default: 1, for tasks 0)",
         {0, 1e6},
         language},
        {"--top-k", "K", &top_k, "Sample from the K most likely tokens", counts, language},
        {"--top-p",
         "P",
         &top_p,
         "Nucleus sampling: sample from the smallest set of tokens whose total probability is at "
         "least P",
         {0, 1},
         language},
        {"--seed", "SEED", &seed, "Seed of the samples (default: the seed of the run)", seeds,
         language},
        {"--input", "FILE", &input, "File to read (default: standard input)", {}, lines},
        {"--beam",
         "COUNT",
         &beam,
         "Width of the beam search; 1 is greedy (default: 1)",
         {1, 1000},
         lines},
        {"--length-penalty",
         "NUMBER",
         &length_penalty,
         "Exponent α of the length penalty; larger values favour longer outputs (default: 0)",
         {0, 100},
         lines}};
  }
  int run() const override;
};

void print_line(const std::string& line) {
  print(line);
  print("\n");
}

struct UsedOption {
  const char* name;
  bool used;
};

// Throws InputError if an option was used that is for other models.
void refuse(std::initializer_list<UsedOption> options, const char* models) {
  for (const auto& [name, used] : options) check_input(!used, "{} is for {}", name, models);
}

// Returns how many tokens the model can see at once; 0 means all.
int64_t window_of(const Experiment& experiment) {
  if (const int64_t positions = learned_positions(experiment.model)) return positions;
  return experiment.data.kind == &data_kinds::text ? experiment.data.context : 0;
}

Sequence prompt_of(const SavedVocabulary& saved, const std::string& text) {
  try {
    const Sequence ids = saved.corpus.target->prompt(text);
    check_input(saved.prompt_length == 0 || static_cast<int64_t>(ids.size()) == saved.prompt_length,
                "expected a problem of {} tokens, found {}", saved.prompt_length, ids.size());
    return ids;
  } catch (const InputError& error) {
    throw InputError(fmt::format("--prompt: {}", error.what()));
  }
}

// By default, tasks generate the most likely output, and other models sample.
ContinuationOptions options_of(const GenerateArguments& a, const Experiment& experiment,
                               const SavedVocabulary& saved) {
  ContinuationOptions options;
  options.sampling.temperature = a.temperature.value_or(experiment.data.kind->is_task() ? 0 : 1);
  options.sampling.top_k = a.top_k.value_or(0);
  options.sampling.top_p = a.top_p.value_or(1);
  check_input(options.sampling.top_p > 0, "--top-p must be above 0");
  options.count = a.count.value_or(1);
  options.max_length =
      a.length.value_or(saved.target_length > 0 ? saved.target_length : options.max_length);
  options.window = window_of(experiment);
  options.seed = static_cast<uint64_t>(a.seed.value_or(experiment.seed));
  return options;
}

int continue_prompt(const GenerateArguments& a, const Experiment& experiment,
                    const SavedVocabulary& saved, const LanguageModel& model) {
  refuse({{"--input", a.input.has_value()},
          {"--beam", a.beam.has_value()},
          {"--length-penalty", a.length_penalty.has_value()}},
         "encoder-decoders, and this run is a language model");
  const TextCodec& codec = *saved.corpus.target;
  const bool is_problem = experiment.data.kind->is_task();
  check_input(a.prompt || !is_problem, "expected the problem as --prompt");
  const bool has_prompt = a.prompt && (is_problem || !a.prompt->empty());
  const Sequence prompt = has_prompt ? prompt_of(saved, *a.prompt) : default_prompt(codec);
  const bool many_lines = codec.vocabulary().end() == Vocabulary::none && !is_problem;
  const std::vector<Sequence> found =
      continuations(model, codec.vocabulary(), {&prompt, 1}, options_of(a, experiment, saved));
  for (size_t i = 0; i < found.size(); ++i) {
    if (i > 0 && many_lines) print_line("---------------");
    Sequence whole = has_prompt && !is_problem ? prompt : Sequence();
    whole.insert(whole.end(), found[i].begin(), found[i].end());
    print_line(codec.decode(whole));
  }
  return exit_done;
}

// Prints one line for each line of input, in batches; at a terminal one by one. `predict` maps
// sources that are not empty to outputs.
template <class Predict>
void predict_lines(const GenerateArguments& a, const TextCodec& codec, int64_t positions,
                   Predict&& predict) {
  const std::string path = a.input.value_or("-");
  std::ifstream file;
  if (path != "-") file.open(path, std::ios::binary);
  check_input(path == "-" || file, "{}: cannot read", path);
  std::istream& input = path == "-" ? std::cin : file;
  const size_t batch_size = path == "-" && ::isatty(STDIN_FILENO) == 1 ? 1 : 256;

  int64_t number = 0;
  for (bool more = true; more;) {
    std::vector<Sequence> sources;
    std::vector<bool> is_empty;
    for (std::string line; is_empty.size() < batch_size && (more = !!std::getline(input, line));) {
      ++number;
      if (line.ends_with('\r')) line.pop_back();
      try {
        Sequence ids = codec.encode(line);
        check_input(positions == 0 || static_cast<int64_t>(ids.size()) <= positions,
                    "expected at most {} tokens, the positions of the model, found {}", positions,
                    ids.size());
        is_empty.push_back(ids.empty());
        if (!ids.empty()) sources.push_back(std::move(ids));
      } catch (const InputError& error) {
        throw InputError(
            fmt::format("{}:{}: {}", path == "-" ? "standard input" : path, number, error.what()));
      }
    }
    const std::vector<std::string> outputs = predict(sources);
    size_t next = 0;
    for (const bool empty : is_empty) print_line(empty ? "" : outputs[next++]);
    std::fflush(stdout);
  }
  check_input(!input.bad(), "{}: cannot read", path);
}

void refuse_sampling(const GenerateArguments& a) {
  refuse({{"--prompt", a.prompt.has_value()},
          {"--count", a.count.has_value()},
          {"--temperature", a.temperature.has_value()},
          {"--top-k", a.top_k.has_value()},
          {"--top-p", a.top_p.has_value()},
          {"--seed", a.seed.has_value()}},
         "language models; this run reads lines from --input FILE");
}

int predict_targets(const GenerateArguments& a, const Corpus& corpus, const Seq2Seq& model,
                    int64_t positions) {
  refuse_sampling(a);
  OutputOptions options;
  options.beam = a.beam.value_or(1);
  options.length_penalty = a.length_penalty.value_or(0);
  if (positions > 0 && a.length)
    check_input(*a.length <= positions,
                "--length: expected at most {}, the positions of the model, found {}", positions,
                *a.length);
  predict_lines(a, *corpus.source, positions, [&](const std::vector<Sequence>& sources) {
    options.max_length = a.length.value_or(max_output_length(sources, positions));
    std::vector<std::string> texts;
    for (const Hypothesis& found : outputs(model, corpus.target->vocabulary(), sources, options))
      texts.push_back(corpus.target->decode(found.tokens));
    return texts;
  });
  return exit_done;
}

int predict_labels(const GenerateArguments& a, const Corpus& corpus, const Classifier& model,
                   int64_t positions) {
  refuse_sampling(a);
  refuse({{"--beam", a.beam.has_value()},
          {"--length-penalty", a.length_penalty.has_value()},
          {"--length", a.length.has_value()}},
         "encoder-decoders, and this run is a classifier");
  predict_lines(a, *corpus.source, positions, [&](const std::vector<Sequence>& sources) {
    std::vector<std::string> texts;
    for (const int32_t label : predicted_classes(model, sources))
      texts.push_back(corpus.labels.at(static_cast<size_t>(label)));
    return texts;
  });
  return exit_done;
}

int GenerateArguments::run() const {
  const SavedRun run = SavedRun::open(path);
  const Experiment& experiment = run.config.experiment;
  apply_settings(experiment);
  const SavedVocabulary saved = run.vocabulary();
  const Corpus& corpus = saved.corpus;
  const std::unique_ptr<Model> model = run.model(corpus, run.checkpoint(checkpoint));
  check_input(
      corpus.format.features == 0,
      "{}: the inputs of this model are vectors of {} values, not text; score it on its data "
      "with heed evaluate",
      run.folder.path(), corpus.format.features);
  const int64_t positions = learned_positions(experiment.model);
  switch (experiment.model.kind) {
    case ModelKind::language_model:
      return continue_prompt(*this, experiment, saved, dynamic_cast<const LanguageModel&>(*model));
    case ModelKind::seq2seq:
      return predict_targets(*this, corpus, dynamic_cast<const Seq2Seq&>(*model), positions);
    case ModelKind::classifier:
      return predict_labels(*this, corpus, dynamic_cast<const Classifier&>(*model), positions);
  }
  throw Error("model: unknown kind");
}

}  // namespace

const Command commands::generate = {
    .name = "generate",
    .summary = "Generate text, or predict outputs, with a trained model",
    .details =
        "Examples:\n"
        "  heed generate runs/words --count 20 --temperature 0.8\n"
        "  heed generate runs/shakespeare --prompt 'ROMEO:' --length 300 --top-k 20\n"
        "  echo '3 14 15 9 26' | heed generate runs/reverse --beam 4",
    .arguments = make_arguments<GenerateArguments>,
};

}  // namespace heed
