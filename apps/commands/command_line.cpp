#include "apps/commands/command_line.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "apps/commands/commands.h"
#include "apps/support/log.h"
#include "core/check.h"

namespace heed {
namespace {

using namespace commands;

void add_set(CLI::App* verb, std::vector<std::string>& set) {
  verb->add_option("--set", set, "Change a key of the config, such as model.layers=4")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->take_all();
}

void add_checkpoint(CLI::App* verb, std::string& checkpoint) {
  verb->add_option("--checkpoint", checkpoint, "best (if there is one), latest or a step")
      ->type_name("WHICH");
}

// What a run of the program is to do, once the command line has been read.
struct CommandLine {
  CLI::App app{"Trains Transformers on a CPU.", "heed"};
  TrainArguments train;
  EvaluateArguments evaluate;
  GenerateArguments generate;
  AttendArguments attend;
  SummaryArguments summary;
  ConfigArguments config;
  CompareArguments compare;
  BenchArguments bench;
  ProfileArguments profile;
  TheoremsArguments theorems;
  int result = exit_done;

  CommandLine() {
    app.require_subcommand(1);
    app.set_version_flag("--version", version_text, "Version, processor, BLAS and precisions");
    app.footer("heed VERB --help explains a verb. To begin: heed train configs/reverse.toml");
    add_train();
    add_evaluate();
    add_generate();
    add_attend();
    add_summary();
    add_config();
    add_compare();
    add_bench();
    add_profile();
    add_theorems();
  }

  void add_train() {
    CLI::App* verb = app.add_subcommand("train", "Train what a config describes, or resume a run");
    verb->add_option("CONFIG", train.config, "A config; not needed with --resume");
    add_set(verb, train.set);
    verb->add_option("--run", train.run, "Folder of the run (default: runs/<config>-<UTC time>)")
        ->type_name("DIR");
    verb->add_flag("--resume", train.resume, "Go on from the newest checkpoint of the run");
    verb->footer(
        "Examples:\n"
        "  heed train configs/reverse.toml\n"
        "  heed train configs/reverse.toml --set model.layers=4 --set optim.lr=1e-4 --run "
        "runs/deep\n"
        "  heed train --resume --run runs/deep --set train.steps=20000");
    verb->callback([this] { result = commands::train(train); });
  }

  void add_evaluate() {
    CLI::App* verb = app.add_subcommand("evaluate", "Scores of a run on a split of its data");
    verb->add_option("RUN", evaluate.run, "Folder of the run")->required();
    verb->add_option("--split", evaluate.split, "val, test, … (default: test, else val)")
        ->type_name("NAME");
    add_checkpoint(verb, evaluate.checkpoint);
    verb->add_flag("--json", evaluate.json, "Write JSON");
    verb->footer(
        "Examples:\n"
        "  heed evaluate runs/deep\n"
        "  heed evaluate runs/deep --split val --checkpoint latest --json");
    verb->callback([this] { result = commands::evaluate(evaluate); });
  }

  void add_generate() {
    GenerateArguments& g = generate;
    CLI::App* verb = app.add_subcommand("generate", "What a trained model writes");
    verb->add_option("RUN", g.run, "Folder of the run")->required();
    add_checkpoint(verb, g.checkpoint);
    const CLI::Range counts(int64_t{1}, int64_t{1'000'000}, "COUNT");
    verb->add_option("--length", g.length, "Symbols to write at most")->check(counts);
    const char* language_models = "Language models";
    verb->add_option("--prompt", g.prompt, "What to go on from")->group(language_models);
    verb->add_option("--count", g.count, "How many to draw")->check(counts)->group(language_models);
    verb->add_option("--temperature", g.temperature, "0: the likeliest symbol; 1: as it learned")
        ->check(CLI::Range(0.0, 1e6, "NUMBER"))
        ->group(language_models);
    verb->add_option("--top-k", g.top_k, "Draw from the K likeliest symbols alone")
        ->check(counts)
        ->group(language_models);
    verb->add_option("--top-p", g.top_p, "Draw from the fewest symbols of probability P together")
        ->check(CLI::Range(0.0, 1.0, "NUMBER"))
        ->group(language_models);
    verb->add_option("--seed", g.seed, "Another seed, other texts")
        ->check(CLI::Range(int64_t{0}, int64_t{9'000'000'000'000'000}, "SEED"))
        ->group(language_models);
    const char* others = "Encoder-decoders and classifiers: a line of output for each of input";
    verb->add_option("--input", g.input, "A file (default: standard input)")
        ->type_name("FILE")
        ->group(others);
    verb->add_option("--beam", g.beam, "Hypotheses kept; 1: greedy search")
        ->check(CLI::Range(int64_t{1}, int64_t{1000}, "COUNT"))
        ->group(others);
    verb->add_option("--length-penalty", g.length_penalty, "Larger ones favour longer answers")
        ->check(CLI::Range(0.0, 100.0, "NUMBER"))
        ->group(others);
    verb->footer(
        "Examples:\n"
        "  heed generate runs/words --count 20 --temperature 0.8\n"
        "  heed generate runs/shakespeare --prompt 'ROMEO:' --length 300 --top-k 20\n"
        "  echo '3 14 15 9 26' | heed generate runs/reverse --beam 4");
    verb->callback([this] { result = commands::generate(generate); });
  }

  void add_attend() {
    AttendArguments& a = attend;
    CLI::App* verb = app.add_subcommand("attend", "What a trained model looks at, as a picture");
    verb->add_option("RUN", a.run, "Folder of the run")->required();
    add_checkpoint(verb, a.checkpoint);
    verb->add_option("--input", a.input,
                     "A prompt, or a line for an encoder: the text, a file that holds it, or - for "
                     "standard input")
        ->type_name("TEXT");
    verb->add_option("--example", a.example, "Instead: an example of the run's data, from 0")
        ->check(CLI::Range(int64_t{0}, int64_t{1} << 40, "N"));
    verb->add_option("--split", a.split, "Where that example is (default: test, else val)")
        ->type_name("NAME");
    verb->add_option("--target", a.target, "The answer (default: the model's own)")
        ->type_name("TEXT");
    verb->add_option("--only", a.only, "Layers whose name fits a pattern with * and ?")
        ->type_name("PATTERN")
        ->expected(1)
        ->take_all();
    verb->add_option("--output", a.output, "The picture, SVG (default: attention.svg)")
        ->type_name("FILE");
    verb->add_option("--csv", a.csv, "Every weight in a row, too")->type_name("FILE");
    verb->add_option("--safetensors", a.safetensors, "Every layer as a tensor, too")
        ->type_name("FILE");
    verb->footer(
        "Examples:\n"
        "  heed attend runs/sort --input '2 0 1 1 0 2'\n"
        "  heed attend runs/reverse --input '3 14 15 9 26' --only 'decoder*' --csv weights.csv\n"
        "  heed attend runs/shapes --example 7 --split test --output shape.svg");
    verb->callback([this] { result = commands::attend(attend); });
  }

  void add_summary() {
    CLI::App* verb =
        app.add_subcommand("summary", "Layers, shapes, parameters, FLOPs and memory of a model");
    verb->add_option("CONFIG|RUN", summary.subject, "A config or the folder of a run")->required();
    add_set(verb, summary.set);
    verb->footer("Examples:\n  heed summary configs/reverse.toml --set model.dim=512");
    verb->callback([this] { result = commands::summary(summary); });
  }

  void add_config() {
    CLI::App* verb =
        app.add_subcommand("config", "Every value of a config and where it comes from");
    verb->add_option("CONFIG", config.config, "A config");
    add_set(verb, config.set);
    verb->add_flag("--reference", config.reference, "List every key there is, as Markdown");
    verb->footer(
        "Examples:\n"
        "  heed config configs/reverse.toml --set optim.lr=1e-4\n"
        "  heed config --reference");
    verb->callback([this] { result = commands::config(config); });
  }

  void add_compare() {
    CLI::App* verb = app.add_subcommand("compare", "What differs between runs, and their scores");
    verb->add_option("RUN", compare.runs, "Folders of runs")->required();
    verb->add_flag("--json", compare.json, "Write JSON");
    verb->add_flag("--csv", compare.csv, "Write CSV");
    verb->footer("Examples:\n  heed compare runs/shallow runs/deep --csv > scores.csv");
    verb->callback([this] { result = commands::compare(compare); });
  }

  void add_bench() {
    CLI::App* verb = app.add_subcommand(
        "bench", "Time and memory of a training step, or speed of writing, for fixed sizes");
    verb->add_option("--size", bench.sizes,
                     "tiny, babycpu, baby, gpt2, reverse or base, or several (default: all)")
        ->type_name("NAMES")
        ->expected(1)
        ->take_all()
        ->delimiter(',');
    verb->add_option("--precision", bench.precision, "highest (default), high or medium")
        ->type_name("P");
    verb->add_option("--seconds", bench.seconds, "To go on with a size for (default: 5)")
        ->check(CLI::Range(0.0, 86400.0, "SECONDS"));
    verb->add_option("--threads", bench.threads, "Default: the physical cores there are")
        ->check(CLI::Range(int64_t{1}, int64_t{1024}, "COUNT"));
    verb->add_flag("--json", bench.json, "Write JSON, a line for each size");
    const char* writing = "Language models that write";
    verb->add_flag("--generate", bench.generate,
                   "Tokens per second, from one token to the last position there is")
        ->group(writing);
    verb->add_option("--batch", bench.batch, "Texts side by side (default: 1)")
        ->check(CLI::Range(int64_t{1}, int64_t{1} << 16, "COUNT"))
        ->group(writing);
    verb->add_flag("--no-cache", bench.no_cache,
                   "Read all tokens again for each new one; else keys and values are kept")
        ->group(writing);
    verb->footer(
        "Examples:\n"
        "  heed bench\n"
        "  heed bench --generate --size baby --batch 8\n"
        "  heed bench --size tiny,baby --precision medium\n"
        "  heed bench --size gpt2 --seconds 20 --threads 1 --json\n"
        "bench/compare and bench/generate set it against PyTorch.");
    verb->callback([this] { result = commands::bench(bench); });
  }

  void add_profile() {
    CLI::App* verb = app.add_subcommand(
        "profile", "Where the time and memory of a training step go, by operation and by layer");
    verb->add_option("CONFIG", profile.config, "A config")->required();
    add_set(verb, profile.set);
    verb->add_option("--steps", profile.steps, "To watch (default: 10)")
        ->check(CLI::Range(int64_t{1}, int64_t{100}, "COUNT"));
    verb->add_option("--trace", profile.trace, "A step for Perfetto or chrome://tracing, too")
        ->type_name("FILE");
    verb->add_flag("--json", profile.json, "Write JSON");
    verb->footer(
        "Examples:\n"
        "  heed profile configs/reverse.toml\n"
        "  heed profile configs/sort.toml --set model.layers=6 --steps 3 --trace step.json\n"
        "The limit is what the machine needs for the FLOPs at the rate of its fastest product, or "
        "for the bytes at its bandwidth of memory, whichever takes longer; beyond 100 % a cache is "
        "at work. A forward operation has the time since the one before it.");
    verb->callback([this] { result = commands::profile(profile); });
  }

  void add_theorems() {
    TheoremsArguments& t = theorems;
    CLI::App* verb = app.add_subcommand(
        "theorems", "Measure what is claimed of attention, or which of it a model has");
    verb->add_option("--only", t.only, "Rows of docs/sources.md")
        ->type_name("ID[,ID]")
        ->delimiter(',');
    verb->add_option("--seed", t.seed, "Other random data")
        ->check(CLI::Range(int64_t{0}, int64_t{9'000'000'000'000'000}, "SEED"));
    verb->add_option("--model", t.model, "Properties of this model, trained (a run) or not")
        ->type_name("RUN|CONFIG");
    add_set(verb, t.set);
    verb->add_flag("--json", t.json, "Write JSON");
    verb->footer(
        "Examples:\n"
        "  heed theorems\n"
        "  heed theorems --only A16,A17 --seed 7 --json\n"
        "  heed theorems --model configs/set.toml --set model.positional.kind=sinusoidal");
    verb->callback([this] { result = commands::theorems(theorems); });
  }
};

}  // namespace

std::vector<std::string> verbs() {
  const CommandLine line;
  std::vector<std::string> names;
  for (const CLI::App* verb : line.app.get_subcommands({})) names.push_back(verb->get_name());
  return names;
}

int run_verb(int argc, char** argv) {
  CommandLine line;
  if (argc < 2) {
    logging::info("{}", line.app.help());
    return exit_misused;
  }
  try {
    line.app.parse(argc, argv);
    return line.result;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return line.app.exit(error);  // --help, --version
    throw InputError(fmt::format("{}; heed {} --help explains it", error.what(), argv[1]));
  }
}

}  // namespace heed
