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
#include "apps/training/saved_run.h"

namespace heed {
namespace {

struct Arguments final : CommandArguments {
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
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fputc('\n', stdout);
}

void refuse(bool given, const char* option, const char* whose) {
  check_input(!given, "--{} is for {}", option, whose);
}

// How many of the last symbols the model may be shown at once; 0: all.
int64_t window_of(const Experiment& experiment) {
  if (const int64_t positions = learned_positions(experiment.model)) return positions;
  return experiment.data.kind == &data_kinds::text ? experiment.data.context : 0;
}

Sequence prompt_of(const SavedVocabulary& saved, const std::string& text) {
  try {
    const Sequence ids = saved.corpus.target->prompt(text);
    check_input(saved.prompt_length == 0 || static_cast<int64_t>(ids.size()) == saved.prompt_length,
                "a problem has {} symbols, not {}", saved.prompt_length, ids.size());
    return ids;
  } catch (const InputError& error) {
    throw InputError(fmt::format("--prompt: {}", error.what()));
  }
}

// What the options say, and where they say nothing: the one answer to a problem, a text otherwise.
ContinuationOptions options_of(const Arguments& a, const Experiment& experiment,
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

int continue_prompt(const Arguments& a, const Experiment& experiment, const SavedVocabulary& saved,
                    const LanguageModel& model) {
  constexpr const char* others = "encoder-decoders, and this run is a language model";
  refuse(a.input.has_value(), "input", others);
  refuse(a.beam.has_value(), "beam", others);
  refuse(a.length_penalty.has_value(), "length-penalty", others);
  const TextCodec& codec = *saved.corpus.target;
  const bool is_problem = experiment.data.kind->is_task();
  check_input(a.prompt || !is_problem, "give the problem with --prompt");
  const bool given = a.prompt && (is_problem || !a.prompt->empty());
  const Sequence prompt = given ? prompt_of(saved, *a.prompt) : default_prompt(codec);
  const bool many_lines = codec.vocabulary().end() == Vocabulary::none && !is_problem;
  const std::vector<Sequence> found =
      continuations(model, codec.vocabulary(), {&prompt, 1}, options_of(a, experiment, saved));
  for (size_t i = 0; i < found.size(); ++i) {
    if (i > 0 && many_lines) print_line("---------------");
    Sequence whole = given && !is_problem ? prompt : Sequence();
    whole.insert(whole.end(), found[i].begin(), found[i].end());
    print_line(codec.decode(whole));
  }
  return exit_done;
}

// Reads lines and writes as many, some at a time: at a terminal each at once.
template <class Answer>
void answer_lines(const Arguments& a, const TextCodec& codec, int64_t positions, Answer&& answer) {
  const std::string path = a.input.value_or("-");
  std::ifstream file;
  if (path != "-") file.open(path, std::ios::binary);
  check_input(path == "-" || file, "{}: cannot read", path);
  std::istream& input = path == "-" ? std::cin : file;
  const size_t at_once = path == "-" && ::isatty(STDIN_FILENO) == 1 ? 1 : 256;

  int64_t number = 0;
  for (bool more = true; more;) {
    std::vector<Sequence> sources;
    std::vector<bool> is_empty;
    for (std::string line; is_empty.size() < at_once && (more = !!std::getline(input, line));) {
      ++number;
      if (line.ends_with('\r')) line.pop_back();
      try {
        Sequence ids = codec.encode(line);
        check_input(positions == 0 || static_cast<int64_t>(ids.size()) <= positions,
                    "{} symbols are more than the {} positions of the model", ids.size(),
                    positions);
        is_empty.push_back(ids.empty());
        if (!ids.empty()) sources.push_back(std::move(ids));
      } catch (const InputError& error) {
        throw InputError(
            fmt::format("{}:{}: {}", path == "-" ? "standard input" : path, number, error.what()));
      }
    }
    const std::vector<std::string> answers = answer(sources);
    size_t next = 0;
    for (const bool empty : is_empty) print_line(empty ? "" : answers[next++]);
    std::fflush(stdout);
  }
  check_input(!input.bad(), "{}: cannot read", path);
}

void refuse_sampling(const Arguments& a) {
  constexpr const char* others = "language models; this run reads lines from --input FILE";
  refuse(a.prompt.has_value(), "prompt", others);
  refuse(a.count.has_value(), "count", others);
  refuse(a.temperature.has_value(), "temperature", others);
  refuse(a.top_k.has_value(), "top-k", others);
  refuse(a.top_p.has_value(), "top-p", others);
  refuse(a.seed.has_value(), "seed", others);
}

int answer_sources(const Arguments& a, const Corpus& corpus, const Seq2Seq& model,
                   int64_t positions) {
  refuse_sampling(a);
  OutputOptions options;
  options.beam = a.beam.value_or(1);
  options.length_penalty = a.length_penalty.value_or(0);
  if (positions > 0 && a.length)
    check_input(*a.length <= positions, "--length {} is more than the {} positions of the model",
                *a.length, positions);
  answer_lines(a, *corpus.source, positions, [&](const std::vector<Sequence>& sources) {
    options.max_length = a.length.value_or(max_output_length(sources, positions));
    std::vector<std::string> texts;
    for (const Hypothesis& found : outputs(model, corpus.target->vocabulary(), sources, options))
      texts.push_back(corpus.target->decode(found.tokens));
    return texts;
  });
  return exit_done;
}

int label_sources(const Arguments& a, const Corpus& corpus, const Classifier& model,
                  int64_t positions) {
  refuse_sampling(a);
  constexpr const char* others = "encoder-decoders, and this run is a classifier";
  refuse(a.beam.has_value(), "beam", others);
  refuse(a.length_penalty.has_value(), "length-penalty", others);
  refuse(a.length.has_value(), "length", "models that write, and this run is a classifier");
  answer_lines(a, *corpus.source, positions, [&](const std::vector<Sequence>& sources) {
    std::vector<std::string> texts;
    for (const int32_t label : predicted_classes(model, sources))
      texts.push_back(corpus.labels.at(static_cast<size_t>(label)));
    return texts;
  });
  return exit_done;
}

int Arguments::run() const {
  const SavedRun run = SavedRun::open(path);
  const Experiment& experiment = run.config.experiment;
  apply_settings(experiment);
  const SavedVocabulary saved = run.vocabulary();
  const Corpus& corpus = saved.corpus;
  const std::unique_ptr<Model> model = run.model(corpus, run.checkpoint(checkpoint));
  check_input(corpus.format.features == 0,
              "{}: this model reads vectors of {} numbers, which cannot be typed; `heed evaluate` "
              "scores it on its data",
              run.folder.path(), corpus.format.features);
  const int64_t positions = learned_positions(experiment.model);
  switch (experiment.model.kind) {
    case ModelKind::language_model:
      return continue_prompt(*this, experiment, saved, dynamic_cast<const LanguageModel&>(*model));
    case ModelKind::seq2seq:
      return answer_sources(*this, corpus, dynamic_cast<const Seq2Seq&>(*model), positions);
    case ModelKind::classifier:
      return label_sources(*this, corpus, dynamic_cast<const Classifier&>(*model), positions);
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
    .arguments = make_arguments<Arguments>,
};

}  // namespace heed
