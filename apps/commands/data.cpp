// heed data: prints how the data of a config are read, or writes the examples of a split.
#include <fmt/format.h>

#include "apps/commands/command.h"
#include "apps/cost/data_report.h"
#include "apps/inference/scores.h"
#include "apps/inference/written_examples.h"
#include "apps/support/files.h"
#include "apps/support/terminal.h"
#include "apps/training/saved_run.h"
#include "core/joined.h"

namespace heed {
namespace {

struct DataArguments final : CommandArguments {
  std::string path, split, written;
  std::vector<std::string> set;

  std::vector<Option> options() override {
    return {
        {"CONFIG|RUN", "", &path, "Config, or folder of a run"},
        set_option(set),
        {"--split", "NAME", &split, "Split to write: train, val, … (default: test, else val)"},
        {"--write", "FILE", &written,
         "Write the examples of a split as lines of JSON, which data.kind = \"examples\" reads"}};
  }
  int run() const override {
    check_input(split.empty() || !written.empty(), "--split is for --write");
    const std::string file = written.empty() ? "" : output_path(written, {".jsonl", ".ndjson"});
    const Corpus corpus = load_data(load_config_or_run(path, set));
    if (!file.empty()) {
      write_examples(file, corpus, split_of(corpus, split_or_default(corpus, split)));
      print(fmt::format("{}\n", written));
      return exit_done;
    }
    print_wrapped(fmt::format("{}\n", joined(data_report(corpus), "\n")));
    return exit_done;
  }
};

}  // namespace

const Command commands::data = {
    .name = "data",
    .summary = "Print how data are read: splits, vocabulary, lengths, examples as tokens",
    .details =
        "Examples:\n"
        "  heed data configs/pairs.toml --set data.path=pairs.tsv\n"
        "  heed data configs/sort.toml --split test --write test.jsonl\n\n"
        "docs/data.md in the source describes the formats.",
    .arguments = make_arguments<DataArguments>,
};

}  // namespace heed
