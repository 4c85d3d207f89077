// save() and load() of an optimizer.
#include "optim/save.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <random>

#include "checks.h"
#include "core/autograd.h"
#include "core/check.h"
#include "core/ops.h"
#include "core/safetensors.h"
#include "optim/rules.h"

using namespace heed;

namespace {

// A parameter and its optimizer; step() has a gradient that depends on the number of the step.
struct SavedTraining {
  Tensor w = Tensor::full({2, 3}, 1).set_requires_grad();
  Optimizer optimizer;
  explicit SavedTraining(const OptimizerRule& kind = optimizers::adamw)
      : optimizer({.kind = &kind, .lr = 0.01}, {{"w", w}}) {}
  void step() {
    optimizer.zero_grad();
    backward(sum(w * w) * static_cast<real>(optimizer.steps() + 1));
    optimizer.step();
  }
  std::vector<real> values() const { return {w.values().begin(), w.values().end()}; }
};

struct SavedFile {
  std::string path = (std::filesystem::temp_directory_path() /
                      ("heed-optimizer-" + std::to_string(std::random_device()())))
                         .string();
  ~SavedFile() { std::filesystem::remove(path); }
};

std::string rejection_of(const auto& f) {
  try {
    f();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("save: an optimizer goes on with the bits of the saved one") {
  SavedFile file;
  SavedTraining a, b;
  for (int i = 0; i < 3; ++i) a.step();
  a.optimizer.set_lr(0.003);
  save(a.optimizer, file.path);
  std::copy_n(a.w.data(), a.w.size(), b.w.mutable_data());
  load(b.optimizer, file.path);
  CHECK(b.optimizer.steps() == 3);
  CHECK(b.optimizer.lr() == 0.003);
  for (int i = 0; i < 3; ++i) a.step(), b.step();
  CHECK(a.values() == b.values());
}

TEST_CASE("save: an optimizer rejects a file that is not its own") {
  SavedFile file;
  SavedTraining adam, sgd(optimizers::sgd);
  save(adam.optimizer, file.path);
  CHECK_CONTAINS(rejection_of([&] { load(sgd.optimizer, file.path); }), file.path + ": ");
  const real weight[6] = {};
  write_safetensors(file.path,
                    {{{"w", sizeof(real) == 4 ? DType::F32 : DType::F64, {2, 3}}, weight}});
  CHECK_CONTAINS(rejection_of([&] { load(adam.optimizer, file.path); }), "no steps");
  for (const char* steps : {"-1", "x", "9999999999999999999999", "1 "}) {
    CAPTURE(steps);
    write_safetensors(file.path, {}, {{"steps", steps}, {"lr", "0.1"}});
    CHECK_CONTAINS(rejection_of([&] { load(adam.optimizer, file.path); }), "steps");
  }
  CHECK(adam.optimizer.steps() == 0);
}
