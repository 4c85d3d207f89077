// save() and load() of an optimizer.
#include "optim/save.h"

#include <doctest/doctest.h>

#include "checks.h"
#include "core/autograd.h"
#include "core/check.h"
#include "core/ops.h"
#include "core/safetensors.h"
#include "optim/rules.h"
#include "temporary_folder.h"

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

}  // namespace

TEST_CASE("save: an optimizer goes on with the bits of the saved one") {
  const TemporaryFolder folder;
  const std::string file = folder / "optimizer.safetensors";
  SavedTraining a, b;
  for (int i = 0; i < 3; ++i) a.step();
  a.optimizer.set_lr(0.003);
  save(a.optimizer, file);
  std::copy_n(a.w.data(), a.w.size(), b.w.mutable_data());
  load(b.optimizer, file);
  CHECK(b.optimizer.steps() == 3);
  CHECK(b.optimizer.lr() == 0.003);
  for (int i = 0; i < 3; ++i) a.step(), b.step();
  CHECK(a.values() == b.values());
}

TEST_CASE("save: an optimizer rejects a file that is not its own") {
  const TemporaryFolder folder;
  const std::string file = folder / "optimizer.safetensors";
  SavedTraining adam, sgd(optimizers::sgd);
  save(adam.optimizer, file);
  CHECK_CONTAINS(thrown<InputError>([&] { load(sgd.optimizer, file); }), file + ": ");
  const real weight[6] = {};
  write_safetensors(file, {{"w", sizeof(real) == 4 ? DType::F32 : DType::F64, {2, 3}, weight}});
  CHECK_CONTAINS(thrown<InputError>([&] { load(adam.optimizer, file); }), "no steps");
  for (const char* steps : {"-1", "x", "9999999999999999999999", "1 "}) {
    CAPTURE(steps);
    write_safetensors(file, {}, {{"steps", steps}, {"lr", "0.1"}});
    CHECK_CONTAINS(thrown<InputError>([&] { load(adam.optimizer, file); }), "steps");
  }
  CHECK(adam.optimizer.steps() == 0);
}
