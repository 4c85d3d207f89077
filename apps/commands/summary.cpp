// heed summary: what a model is made of, and what training it costs.
#include "apps/measure/summary.h"

#include <fmt/format.h>

#include "apps/commands/commands.h"
#include "apps/config/load_config.h"
#include "apps/support/files.h"
#include "apps/training/run.h"

namespace heed::commands {

int summary(const SummaryArguments& arguments) {
  const LoadedConfig config =
      load_config(is_folder(arguments.subject) ? RunFolder::open(arguments.subject).config()
                                               : arguments.subject,
                  arguments.set);
  apply_settings(config.experiment);
  const Corpus corpus = load_data(config);
  with_places(config.origins, [&] {
    const Summary result = summarize(config.experiment, corpus);
    fmt::print("{}\n", table(result));
    check_memory(result);
  });
  return exit_done;
}

}  // namespace heed::commands
