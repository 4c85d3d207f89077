// heed data: prints how the data of a config are read.
#include <fmt/format.h>

#include "apps/commands/command.h"
#include "apps/cost/data_report.h"
#include "apps/support/terminal.h"
#include "apps/training/saved_run.h"
#include "core/joined.h"

namespace heed {
namespace {

struct DataArguments final : CommandArguments {
  std::string path;
  std::vector<std::string> set;

  std::vector<Option> options() override {
    return {{"CONFIG|RUN", "", &path, "Config, or folder of a run"}, set_option(set)};
  }
  int run() const override {
    print_wrapped(
        fmt::format("{}\n", joined(data_report(load_data(load_config_or_run(path, set))), "\n")));
    return exit_done;
  }
};

}  // namespace

const Command commands::data = {
    .name = "data",
    .summary = "Print how data are read: splits, vocabulary, lengths, examples as tokens",
    .details =
        "Examples:\n"
        "  heed data configs/pairs.toml --set data.path=pairs.tsv\n\n"
        "docs/data.md in the source describes the formats.",
    .arguments = make_arguments<DataArguments>,
};

}  // namespace heed
