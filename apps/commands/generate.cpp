// heed generate: generates text, or predicts outputs. A language model continues a prompt; the
// other models answer each line of input.
#include "apps/commands/command.h"
#include "apps/cost/summary.h"
#include "apps/inference/example_answers.h"
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
    const Sequence ids = in_context("--forbid", [&] { return codec.encode(text); });
    rules.forbidden.insert(rules.forbidden.end(), ids.begin(), ids.end());
  }
  return rules;
}

void set_search(const GenerateArguments& a, GenerationOptions& options) {
  options.count = a.n_best.value_or(1);
  options.beam = a.beam.value_or(options.count);
  check_input(options.count <= options.beam, "--n-best {} needs a --beam of at least {}, found {}",
              options.count, options.count, options.beam);
  options.length_penalty = a.length_penalty.value_or(0);
}

// Sampling by default, or a beam search, of a language model.
void set_continuation(const GenerateArguments& a, GenerationOptions& options) {
  options.sampling.temperature = a.temperature.value_or(options.sampling.temperature);
  options.sampling.top_k = a.top_k.value_or(0);
  options.sampling.top_p = a.top_p.value_or(1);
  check_input(options.sampling.top_p > 0, "--top-p must be above 0");
  options.count = a.count.value_or(1);
  if (a.seed) options.seed = static_cast<uint64_t>(*a.seed);
  if (a.beam || a.n_best) {
    refuse({{"--count", a.count.has_value()},
            {"--temperature", a.temperature.has_value()},
            {"--top-k", a.top_k.has_value()},
            {"--top-p", a.top_p.has_value()},
            {"--seed", a.seed.has_value()}},
           "samples; leave it out, or --beam and --n-best");
    set_search(a, options);
  } else {
    refuse({{"--length-penalty", a.length_penalty.has_value()}}, "a beam search; add --beam");
  }
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

void refuse_generation(const GenerateArguments& a) {
  refuse({{"--beam", a.beam.has_value()},
          {"--length-penalty", a.length_penalty.has_value()},
          {"--length", a.length.has_value()},
          {"--forbid", !a.forbid.empty()},
          {"--no-repeat-ngram", a.no_repeat_ngram.has_value()}},
         "models that generate, and this run is a classifier");
}

// Returns what the arguments ask of this kind of model, with the defaults of the run.
GenerationOptions options_of(const GenerateArguments& a, const Experiment& experiment,
                             const Corpus& corpus) {
  GenerationOptions options = default_generation(experiment, corpus);
  if (a.length) options.max_length = a.length;
  switch (experiment.model.kind) {
    case ModelKind::language_model:
      check_input(!a.prompt || !a.input, "--prompt and --input: expected one of them");
      check_input(
          a.prompt || a.input || !has_exact_match(experiment),
          "expected the problem as --prompt, or one on each line of --input, where - is a pipe");
      set_continuation(a, options);
      break;
    case ModelKind::seq2seq:
      refuse_sampling(a);
      set_search(a, options);
      break;
    case ModelKind::classifier:
      refuse_sampling(a);
      refuse_generation(a);
      options.count = a.n_best.value_or(1);
      return options;
  }
  options.rules = rules_of(a, *corpus.target);
  if (experiment.model.kind == ModelKind::seq2seq)
    check_input(options.positions == 0 || a.length.value_or(0) <= options.positions,
                "--length: expected at most {}, the positions of the model, found {}",
                options.positions, a.length.value_or(0));
  return options;
}

int GenerateArguments::run() const {
  const SavedRun saved = SavedRun::open(path);
  const Experiment& experiment = saved.config.experiment;
  apply_settings(experiment);
  const TrainedModel run(saved, checkpoint, TrainedModel::Needs::vocabulary);
  const TrainedModel::Here here(run);
  const Corpus& corpus = run.corpus;
  check_input(
      !answers_examples(corpus) || (experiment.data.kind == &data_kinds::examples &&
                                    experiment.model.kind != ModelKind::seq2seq),
      "{}: the inputs of this model are vectors, not text; score it on its data with heed evaluate",
      run.path());
  UnknownTokens unknown_tokens(unknown);
  AnswerOptions output;
  output.json = json;
  output.scores = scores;
  output.skipped = unknown_tokens.skipped();
  const bool continues =
      experiment.model.kind == ModelKind::language_model && !answers_examples(corpus);
  if (!continues)
    output.check = [&](std::span<const Sequence> lines) {
      check_lines_memory(experiment, corpus, lines, available_memory());
    };
  if (answers_examples(corpus)) {
    refuse_sampling(*this);
    refuse_generation(*this);
    return unknown_tokens.exit_code(
        print_answers(example_answerer(*run.model, experiment, corpus, output), input.value_or("-"),
                      experiment.data.level));
  }
  const Answerer answerer = generation_answerer(*run.model, experiment, corpus,
                                                options_of(*this, experiment, corpus), output);
  if (input || !continues)
    return unknown_tokens.exit_code(
        print_answers(answerer, input.value_or("-"), experiment.data.level));
  const std::string text = prompt.value_or("");
  const Sequence ids = in_context("--prompt", [&] { return tokens_of(answerer, text); });
  print_answer(answerer, {0, text, ids});
  return unknown_tokens.exit_code(0);
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
