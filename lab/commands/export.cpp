// heed export: writes a trained model as a file for other programs.
#include <fmt/format.h>

#include "apps/support/files.h"
#include "apps/support/terminal.h"
#include "apps/support/version.h"
#include "apps/training/saved_run.h"
#include "lab/commands/room.h"
#include "lab/onnx/model.h"

namespace heed {
namespace {

struct ExportArguments final : CommandArguments {
  std::string path, checkpoint, format = "onnx", output = "model.onnx";

  std::vector<Option> options() override {
    return {{"RUN", "", &path, "Folder of the run"},
            checkpoint_option(checkpoint),
            {"--format", "onnx", &format, "Format of the file (default: onnx)"},
            {"--output", "FILE", &output, "File to write (default: model.onnx)"}};
  }
  int run() const override {
    const std::string file = output_path(output, {".onnx"});
    const TrainedModel run(SavedRun::open(path), checkpoint, TrainedModel::Needs::vocabulary);
    const Experiment& experiment = run.experiment();
    onnx::Graph graph = with_origins(run.run.config.origins, [&] {
      return onnx::graph_of(experiment.model, model_sizes(experiment, run.corpus),
                            run.model->parameters());
    });
    graph.note("heed", program_version);
    graph.note("step", std::to_string(run.checkpoint.step()));
    const std::string bytes = graph.bytes();
    write_file(file, bytes);
    print(fmt::format("{}: ONNX, opset {}, {:.1f} MB\n{}", output, onnx::Graph::opset,
                      static_cast<double>(bytes.size()) / 1e6, graph.signature()));
    return exit_done;
  }
};

}  // namespace

const Command lab_commands::export_run = {
    .name = "export",
    .summary = "Write a trained model as an ONNX file for other programs",
    .details =
        "The file has ONNX opset 17 and float32 weights; docs/interoperability.md shows how to use "
        "it.\n\n"
        "Examples:\n"
        "  heed export runs/reverse --output reverse.onnx",
    .arguments = make_arguments<ExportArguments>,
};

}  // namespace heed
