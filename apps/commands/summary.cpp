// heed summary: what a model is made of, and what training it costs.
#include "apps/summary.h"

#include <fmt/format.h>

#include <sys/stat.h>

#include "apps/commands.h"
#include "apps/load_config.h"
#include "apps/run.h"

namespace heed::commands {

int summary(const SummaryArguments& arguments) {
  struct stat status {};
  const bool is_run = ::stat(arguments.subject.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
  const LoadedConfig config = load_config(
      is_run ? RunFolder::open(arguments.subject).config() : arguments.subject, arguments.set);
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
