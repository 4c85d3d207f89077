// heed config: every value of a config and where it comes from; or every key there is.
#include "apps/config/config.h"

#include <fmt/format.h>

#include "apps/commands/commands.h"
#include "apps/config/load_config.h"

namespace heed::commands {

int config(const ConfigArguments& arguments) {
  check_input(arguments.reference != !arguments.config.empty(),
              "config needs a config, or --reference for the list of all keys");
  if (arguments.reference) {
    fmt::print("# Keys of a config\n\n{}", config_reference(list_config(Experiment())));
    return exit_done;
  }
  const LoadedConfig config = load_config(arguments.config, arguments.set);
  fmt::print("{}", config_text(list_config(config.experiment), config.origins));
  return exit_done;
}

}  // namespace heed::commands
