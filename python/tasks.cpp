#include "python/tasks.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <pybind11/pybind11.h>
#include <string>

#include "apps/training/example_program.h"
#include "data/file_splits.h"

namespace py = pybind11;

namespace heed {
namespace {

// The examples of a task from number `next` on. A thread of heed reads them, without the
// interpreter.
class FunctionLines final : public LineSource {
 public:
  FunctionLines(std::string name, Split split, uint64_t seed, int64_t next)
      : name_(std::move(name)), split_(name_of(split_names, split)), seed_(seed), next_(next) {}

  bool next(std::string& line) override {
    if (stopped_) return false;
    const py::gil_scoped_acquire held;
    try {
      line = py::cast<std::string>(
          py::module_::import("heed._tasks").attr("line")(name_, split_, seed_, next_++));
      return true;
    } catch (const py::error_already_set& error) {
      problem_ = error.what();
      problem_.resize(std::min(problem_.find('\n'), problem_.size()));
      return false;
    }
  }
  void stop() override { stopped_ = true; }
  std::string problem() override { return problem_.empty() ? "it was stopped" : problem_; }
  std::vector<std::string> take_errors() override { return {}; }

 private:
  const std::string name_, split_;
  const uint64_t seed_;
  int64_t next_;
  std::atomic<bool> stopped_ = false;
  std::string problem_;
};

}  // namespace

void use_python_tasks() {
  use_tasks([](const std::string& name, Split split, uint64_t seed, int64_t start) {
    return std::make_unique<FunctionLines>(name, split, seed, start);
  });
}

}  // namespace heed
