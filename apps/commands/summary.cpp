// heed summary: prints the layers of a model and what training it costs.
#include "apps/cost/summary.h"

#include <fmt/format.h>

#include "apps/commands/command.h"
#include "apps/cost/notice.h"
#include "apps/support/log.h"
#include "apps/support/terminal.h"
#include "apps/training/saved_run.h"

namespace heed {
namespace {

struct SummaryArguments final : CommandArguments {
  std::string path;
  std::vector<std::string> set;

  std::vector<Option> options() override {
    return {{"CONFIG|RUN", "", &path, "Config, or folder of a run"}, set_option(set)};
  }
  int run() const override {
    LoadedConfig config = load_config_or_run(path, set);
    apply_settings(config.experiment);
    const Corpus corpus = load_data(config);
    with_origins(config.origins, [&] {
      config.experiment.take_all_examples(corpus);
      for (const std::string& notice : setting_notices(config.experiment, corpus))
        logging::warning("{}", notice);
      const Summary result = summarize(config.experiment, corpus);
      print_wrapped(fmt::format("{}\n", table(result)));
      check_memory(result);
    });
    return exit_done;
  }
};

}  // namespace

const Command commands::summary = {
    .name = "summary",
    .summary = "Print layers, shapes, parameters, FLOPs and memory of a model",
    .details = "Examples:\n  heed summary configs/reverse.toml --set model.dim=512",
    .arguments = make_arguments<SummaryArguments>,
};

}  // namespace heed
