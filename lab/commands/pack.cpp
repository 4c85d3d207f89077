// heed pack: puts a run or a sweep into one archive, for others to reproduce.
#include "lab/experiments/pack.h"

#include <fmt/format.h>

#include "apps/support/files.h"
#include "apps/support/log.h"
#include "apps/support/numbers.h"
#include "apps/support/terminal.h"
#include "lab/commands/room.h"

namespace heed {
namespace {

struct PackArguments final : CommandArguments {
  std::string path, output;
  std::optional<std::string> licence;
  std::string checkpoints = "best";

  std::vector<Option> options() override {
    return {{"RUN|SWEEP", "", &path, "Folder of the run or of the sweep"},
            {"--output", "FILE", &output,
             "Archive to write, NAME.tgz or NAME.tar.gz (default: the name of the folder, in the "
             "current folder)"},
            {"--with-data", "LICENCE", &licence,
             "Include the data files, which this licence lets you pass on, such as CC-BY-4.0; "
             "README.txt in the archive names it (default: data files are left out)"},
            {"--checkpoints", "best|none", &checkpoints,
             "Weights to include: the best checkpoint of each run with its snapshots, or none "
             "(default: best)"}};
  }
  int run() const override {
    PackOptions options{path, output, licence.value_or(""), checkpoints == "best"};
    if (output.empty()) options.output = name_of(absolute_path(path, ".")) + ".tgz";
    const Packed packed = pack(options);
    if (packed.interrupted) {
      logging::info("interrupted; nothing was written");
      return exit_interrupted;
    }
    if (packed.failed > 0)
      logging::warning("{} of {} failed; the archive has their errors", packed.failed,
                       counted(packed.runs, "run"));
    if (packed.lacks_data)
      logging::info(
          "the data files are not in the archive; --with-data LICENCE includes them, if their "
          "licence lets you pass them on");
    print(fmt::format("{}\n", options.output));
    return exit_done;
  }
};

}  // namespace

const Command lab_commands::pack = {
    .name = "pack",
    .summary = "Put a run or a sweep into one archive, for others to reproduce",
    .details =
        "The archive contains configs, metrics, scores and logs, the best checkpoints, and a "
        "README.txt\n"
        "with the commands that reproduce the results. An unpacked folder is a run or a sweep like "
        "any other.\n\n"
        "Examples:\n"
        "  heed pack runs/reverse\n"
        "  heed pack runs/rates -o rates.tgz --checkpoints none\n"
        "  heed pack runs/shakespeare --with-data \"public domain\"",
    .arguments = make_arguments<PackArguments>,
};

}  // namespace heed
