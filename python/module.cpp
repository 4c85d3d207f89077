// The module _heed, which the package heed (python/heed) makes a face for. It calls the commands of
// the program, and what they call, so that Python gets their bits and their errors.
#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "apps/commands/command_line.h"
#include "apps/run/run.h"
#include "apps/support/log.h"
#include "apps/support/machine.h"
#include "apps/support/mistakes.h"
#include "apps/support/terminal.h"
#include "apps/support/version.h"
#include "apps/training/saved_run.h"
#include "apps/training/training_loop.h"
#include "core/joined.h"
#include "core/parallel.h"
#include "core/text.h"
#include "lab/report/page.h"
#include "lab/report/report_data.h"
#include "python/activations.h"
#include "python/tasks.h"

namespace py = pybind11;

namespace heed {
namespace {

// Lets go of the interpreter, and keeps the number of threads, which a config may set, for later
// calls.
class Computing {
 public:
  Computing() = default;
  ~Computing() { set_thread_count(threads_); }
  Computing(const Computing&) = delete;
  Computing& operator=(const Computing&) = delete;

 private:
  const py::gil_scoped_release released_;
  const int threads_ = thread_count();
};

std::string program;  // the file of the program heed, which trains the runs of sweeps

struct Called {
  int code = 0;        // exit code of the command
  std::string output;  // what it printed
  std::string run;     // folder of the run that it trained
};

// Runs a command of the program. `on_row` gets each row of metrics.jsonl as text.
Called call(const std::vector<std::string>& words, bool shows_log,
            const std::optional<std::function<void(const std::string&)>>& on_row) {
  const Computing here;
  Called called;
  ProgramCommands commands = program_commands();
  commands.prepare = [&](TrainingLoop& loop) {
    TrainingContext& training = loop.training();
    called.run = training.writer->folder().path();
    if (on_row) training.on_row = [&](const Json& row) { (*on_row)(row.text()); };
  };
  std::vector<std::string> all{"heed"};
  all.insert(all.end(), words.begin(), words.end());
  use_program(program, all);
  std::vector<char*> arguments;
  for (std::string& word : all) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::optional<logging::Quiet> quiet;
  if (!shows_log) quiet.emplace();
  const CapturedOutput captured(called.output);
  called.code = run_command_line(commands, static_cast<int>(all.size()), arguments.data());
  return called;
}

// Throws InputError and Error as the errors of Python that the package defines. Each of several
// mistakes is a line.
void translate(std::exception_ptr error) {
  const auto raise = [](const char* name, const std::string& text) {
    PyErr_SetString(py::module_::import("heed").attr(name).ptr(), escaped(text).c_str());
  };
  try {
    if (error) std::rethrow_exception(error);
  } catch (const Mistakes& e) {
    raise("InputError", joined(e.each(), "\n"));
  } catch (const InputError& e) {
    raise("InputError", e.what());
  } catch (const Error& e) {
    raise("Error", e.what());
  }
}

}  // namespace
}  // namespace heed

PYBIND11_MODULE(_heed, module) {
  using namespace heed;
  py::register_local_exception_translator(translate);
  module.attr("version") = program_version;

  py::class_<Called>(module, "Called")
      .def_readonly("code", &Called::code)
      .def_readonly("output", &Called::output)
      .def_readonly("run", &Called::run);
  module.def("call", call, py::arg("words"), py::arg("shows_log"), py::arg("on_row"));
  module.def("use_program", [](const std::string& path) { program = path; });
  module.def("use_tasks", use_python_tasks);
  module.def("report", [](const std::vector<std::string>& paths) {
    const Computing here;
    return report_file(report_data({.paths = paths, .profile = false}));
  });

  py::class_<Run>(module, "Run")
      .def(py::init([](const std::string& path, const std::string& checkpoint) {
        const Computing here;
        return std::make_unique<Run>(path, checkpoint);
      }))
      .def_property_readonly("path", [](const Run& run) { return run.loaded().path(); })
      .def_property_readonly("step", &Run::step)
      .def("predict",
           [](const Run& run, const std::vector<std::string>& lines, int64_t beam,
              double length_penalty, int64_t length) {
             const Computing here;
             return run.predict(lines,
                                {.length = length, .beam = beam, .length_penalty = length_penalty});
           })
      .def("generate",
           [](const Run& run, const std::string& prompt, int64_t length, int64_t count,
              std::optional<double> temperature, int64_t top_k, double top_p,
              std::optional<uint64_t> seed) {
             const Computing here;
             return run.generate(prompt, {.length = length,
                                          .count = count,
                                          .temperature = temperature,
                                          .top_k = top_k,
                                          .top_p = top_p,
                                          .seed = seed});
           })
      .def("evaluate",
           [](const Run& run, const std::string& split) {
             const Computing here;
             return run.evaluate(split);
           })
      .def("forward_texts", forward_texts)
      .def("forward_tokens", forward_tokens)
      .def("forward_examples", forward_examples);
}
