// heed config: prints every value of a config and its origin, or documents every key.
#include "apps/config/config.h"

#include <fmt/format.h>

#include "apps/commands/command.h"
#include "apps/config/load_config.h"
#include "apps/support/terminal.h"

namespace heed {
namespace {

struct ConfigArguments final : CommandArguments {
  std::string path;
  std::vector<std::string> set;
  bool reference = false;

  std::vector<Option> options() override {
    return {{"[CONFIG]", "", &path, "Config to print"},
            set_option(set),
            {"--reference", "", &reference, "Print the documentation of every key, as Markdown"}};
  }
  int run() const override {
    check_input(reference == path.empty(),
                "config needs a config, or --reference for the list of all keys");
    if (reference) {
      print(fmt::format("# Keys of a config\n\n{}", config_reference(list_config(Experiment()))));
      return exit_done;
    }
    const LoadedConfig config = load_config(path, set);
    print(config_text(list_config(config.experiment), config.origins));
    return exit_done;
  }
};

}  // namespace

const Command commands::config = {
    .name = "config",
    .summary = "Print every value of a config and where it comes from",
    .details =
        "Examples:\n"
        "  heed config configs/reverse.toml --set optim.lr=1e-4\n"
        "  heed config --reference",
    .arguments = make_arguments<ConfigArguments>,
};

}  // namespace heed
