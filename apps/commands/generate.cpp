// heed generate: generates text, or predicts outputs. A language model continues a prompt; the
// other models answer each line of input.
#include <fmt/format.h>

#include "apps/commands/command.h"
#include "apps/cost/summary.h"
#include "apps/inference/generation.h"
#include "apps/inference/line_output.h"
#include "apps/inference/predictions.h"
#include "apps/support/json.h"
#include "apps/support/output.h"
#include "apps/training/agreement.h"
#include "apps/training/saved_run.h"
#include "core/system_memory.h"
#include "core/text.h"

namespace heed {
namespace {

struct GenerateArguments final : CommandArguments {
  std::string path, checkpoint;
  std::optional<int64_t> length;
  bool scores = false, json = false;
  std::vector<std::string> forbid;
  std::optional<int64_t> no_repeat_ngram;
  std::string unknown = "error";
  std::optional<std::string> input;  // a file; standard input without it, or for "-"
  std::optional<int64_t> beam, n_best;
  std::optional<double> length_penalty;
  // Language models.
  std::optional<std::string> prompt;
  std::optional<int64_t> count, top_k, seed;
  std::optional<double> temperature, top_p;

  std::vector<Option> options() override {
    constexpr Range counts{1, 1e6}, beams{1, 1000}, exponents{0, 100}, divisors{0, 1e6},
        fractions{0, 1};
    constexpr const char* language = "Language models";
    return {
        {"RUN", "", &path, "Folder of the run"},
        checkpoint_option(checkpoint),
        {"--length", "COUNT", &length, "Maximum number of tokens to generate", counts},
        {"--input", "FILE", &input,
         "Read one input per line from FILE, or from standard input for -; for a language model "
         "each line is a prompt (default: -, or --prompt for a language model)"},
        {"--scores", "", &scores,
         "Print the log probability of each output, a tab, and the output; for a classifier the "
         "probability of the class"},
        {"--json", "", &json,
         "Print an object for each sample or line, with the log probability of each token, or the "
         "probability of each class"},
        {"--forbid", "TEXT", &forbid,
         "Never generate the tokens of this text, or this special token, such as <unk>; may be "
         "repeated"},
        {"--no-repeat-ngram", "N", &no_repeat_ngram, "Generate no sequence of N tokens twice",
         counts},
        unknown_option(unknown),
        {"--beam", "COUNT", &beam,
         "Width of the beam search; 1 is greedy (default: 1, or N; a language model samples "
         "without --beam and --n-best)",
         beams},
        {"--n-best", "N", &n_best,
         "Print the N best outputs of each line or prompt, best first (default: 1)", beams},
        {"--length-penalty", "NUMBER", &length_penalty,
         "Exponent α of the length penalty; larger values favour longer outputs (default: 0)",
         exponents},
        {"--prompt", "TEXT", &prompt, "Text to continue", {}, language},
        {"--count", "COUNT", &count, "Number of samples (default: 1)", counts, language},
        {"--temperature", "NUMBER", &temperature,
         "Divisor of the logits; 0 always takes the most likely token (default: 1, for tasks 0)",
         divisors, language},
        {"--top-k", "K", &top_k, "Sample from the K most likely tokens", counts, language},
        {"--top-p", "P", &top_p,
         "Nucleus sampling: sample from the smallest set of tokens whose total probability is at "
         "least P",
         fractions, language},
        {"--seed", "SEED", &seed, "Seed of the samples (default: the seed of the run)", seed_range,
         language}};
  }
  int run() const override;
};

struct UsedOption {
  const char* name;
  bool used;
};

// Throws InputError if an option was used that is for other models.
void refuse(std::initializer_list<UsedOption> options, const char* models) {
  for (const auto& [name, used] : options) check_input(!used, "{} is for {}", name, models);
}

// Returns the tokens that a language model continues.
Sequence prompt_of(const SavedVocabulary& saved, const std::string& text, int64_t* skipped) {
  const Sequence ids = saved.corpus.target->prompt(text, skipped);
  check_input(!ids.empty(), "none of its tokens is in the vocabulary");
  check_input(saved.prompt_length == 0 || static_cast<int64_t>(ids.size()) == saved.prompt_length,
              "expected a problem of {} tokens, found {}", saved.prompt_length, ids.size());
  return ids;
}

// --forbid and --no-repeat-ngram.
TokenRules rules_of(const GenerateArguments& a, const TextCodec& codec) {
  TokenRules rules;
  rules.no_repeat_ngram = a.no_repeat_ngram.value_or(0);
  for (const std::string& text : a.forbid) {
    check_input(!text.empty(), "--forbid: expected a text, or a special token such as <unk>");
    if (is_special(text) && codec.vocabulary().find(text) != Vocabulary::none) {
      rules.forbidden.push_back(codec.vocabulary().find(text));
      continue;
    }
    try {
      const Sequence ids = codec.encode(text);
      rules.forbidden.insert(rules.forbidden.end(), ids.begin(), ids.end());
    } catch (const InputError& error) {
      throw InputError(fmt::format("--forbid: {}", error.what()));
    }
  }
  return rules;
}

int64_t beam_of(const GenerateArguments& a) {
  const int64_t n_best = a.n_best.value_or(1), beam = a.beam.value_or(n_best);
  check_input(n_best <= beam, "--n-best {} needs a --beam of at least {}, found {}", n_best, n_best,
              beam);
  return beam;
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
  if (a.beam || a.n_best) {
    refuse({{"--count", a.count.has_value()},
            {"--temperature", a.temperature.has_value()},
            {"--top-k", a.top_k.has_value()},
            {"--top-p", a.top_p.has_value()},
            {"--seed", a.seed.has_value()}},
           "samples; leave it out, or --beam and --n-best");
    options.beam = beam_of(a);
    options.count = a.n_best.value_or(1);
    options.length_penalty = a.length_penalty.value_or(0);
  } else {
    refuse({{"--length-penalty", a.length_penalty.has_value()}}, "a beam search; add --beam");
  }
  options.max_length =
      a.length.value_or(saved.target_length > 0 ? saved.target_length : options.max_length);
  options.window = window_of(experiment);
  options.rules = rules_of(a, *saved.corpus.target);
  options.seed = static_cast<uint64_t>(a.seed.value_or(experiment.seed));
  return options;
}

// The functions for each kind of model return the number of lines that could not be read.

int64_t continue_prompt(const GenerateArguments& a, const LineOutput& output,
                        const Experiment& experiment, const SavedVocabulary& saved,
                        const LanguageModel& model) {
  const TextCodec& codec = *saved.corpus.target;
  const bool is_problem = experiment.data.kind->is_task();
  check_input(!a.prompt || !a.input, "--prompt and --input: expected one of them");
  check_input(a.prompt || a.input || !is_problem, "expected the problem as --prompt");
  const ContinuationOptions options = options_of(a, experiment, saved);
  const auto encode = [&](const std::string& text) {
    return text.empty() && !is_problem ? default_prompt(codec)
                                       : prompt_of(saved, text, output.skipped);
  };
  if (a.input) return print_continuations(model, codec, options, !is_problem, encode, output);
  Sequence prompt;
  try {
    prompt = encode(a.prompt.value_or(""));
  } catch (const InputError& error) {
    throw InputError(fmt::format("--prompt: {}", error.what()));
  }
  const Sequence shown = a.prompt && !a.prompt->empty() && !is_problem ? prompt : Sequence();
  const bool many_lines = codec.vocabulary().end() == Vocabulary::none && !is_problem;
  const auto search = options.beam > 0 ? best_continuations : scored_continuations;
  const std::vector<Hypothesis> found =
      search(model, codec.vocabulary(), {&prompt, 1}, options).at(0);
  for (size_t i = 0; i < found.size(); ++i) {
    const Json object = output_json(codec, shown, found[i]);
    if (i > 0 && many_lines && !a.json) print_line(separator_line);
    if (a.json)
      print_line(object.text());
    else
      print_output(found[i].log_probability, object.at("text").string(), a.scores);
  }
  return 0;
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

int64_t predict_targets(const GenerateArguments& a, const LineOutput& output, const Corpus& corpus,
                        const Seq2Seq& model) {
  refuse_sampling(a);
  OutputOptions options;
  options.n_best = a.n_best.value_or(1);
  options.beam = beam_of(a);
  options.length_penalty = a.length_penalty.value_or(0);
  options.rules = rules_of(a, *corpus.target);
  options.positions = output.positions;
  options.max_length = a.length.value_or(0);
  check_input(options.positions == 0 || options.max_length <= options.positions,
              "--length: expected at most {}, the positions of the model, found {}",
              options.positions, options.max_length);
  return print_outputs(model, corpus, options, output);
}

int64_t predict_labels(const GenerateArguments& a, const LineOutput& output, const Corpus& corpus,
                       const Classifier& model) {
  refuse_sampling(a);
  refuse({{"--beam", a.beam.has_value()},
          {"--length-penalty", a.length_penalty.has_value()},
          {"--length", a.length.has_value()},
          {"--forbid", !a.forbid.empty()},
          {"--no-repeat-ngram", a.no_repeat_ngram.has_value()}},
         "models that generate, and this run is a classifier");
  return print_classes(model, corpus, a.n_best.value_or(1), output);
}

int GenerateArguments::run() const {
  const SavedRun run = SavedRun::open(path);
  const Experiment& experiment = run.config.experiment;
  apply_settings(experiment);
  const SavedVocabulary saved = run.vocabulary();
  const Corpus& corpus = saved.corpus;
  const Checkpoint loaded = run.checkpoint(checkpoint);
  check_agreement(experiment, "", &loaded);
  const std::unique_ptr<Model> model = run.model(corpus, loaded);
  check_input(
      corpus.format.features == 0,
      "{}: the inputs of this model are vectors of {} values, not text; score it on its data "
      "with heed evaluate",
      run.folder.path(), corpus.format.features);
  UnknownTokens unknown_tokens(unknown);
  const auto* const language_model = dynamic_cast<const LanguageModel*>(model.get());
  const auto* const seq2seq = dynamic_cast<const Seq2Seq*>(model.get());
  LineOutput output{input.value_or("-"), unknown_tokens.skipped(), scores, json,
                    language_model ? 0 : learned_positions(experiment.model)};
  if (!language_model)
    output.check = [&](std::span<const Sequence> lines) {
      check_lines_memory(experiment, corpus, lines, available_memory());
    };
  const int64_t failed =
      language_model ? continue_prompt(*this, output, experiment, saved, *language_model)
      : seq2seq      ? predict_targets(*this, output, corpus, *seq2seq)
                : predict_labels(*this, output, corpus, dynamic_cast<const Classifier&>(*model));
  return unknown_tokens.exit_code(failed);
}

}  // namespace

const Command commands::generate = {
    .name = "generate",
    .summary = "Generate text, or predict outputs, with a trained model",
    .details =
        "Examples:\n"
        "  heed generate runs/words --count 20 --temperature 0.8\n"
        "  heed generate runs/shakespeare --prompt 'ROMEO:' --length 300 --top-k 20\n"
        "  heed generate runs/addition --input problems.txt\n"
        "  echo '3 14 15 9 26' | heed generate runs/reverse --n-best 4 --scores\n\n"
        "Lines are answered as they arrive. A line that the model cannot read is reported on "
        "standard\nerror and answered by an empty line; the exit code is then 2.",
    .arguments = make_arguments<GenerateArguments>,
    .shared_by_ranks = true,
};

}  // namespace heed
