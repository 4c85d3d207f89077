// heed summary: what a model is made of, and what training it costs.
#include "apps/summary.h"

#include <fmt/format.h>

#include "apps/commands.h"
#include "apps/files.h"
#include "apps/load_config.h"
#include "apps/run.h"

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
