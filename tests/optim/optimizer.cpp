// Properties of all optimizers. pytorch.cpp tests the rules themselves.
#include "optim/optimizer.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "allocations.h"
#include "core/parallel.h"
#include "core/pool.h"
#include "optim/fixture.h"
#include "optim/rules.h"
#include "optim/save.h"
#include "optim/trained.h"

using namespace heed;

namespace {

// Each rule, with momentum, amsgrad, weight decay, clipping.
std::vector<OptimOptions> one_of_each() {
  OptimOptions plain, sgd, adam, adamw;
  plain.kind = sgd.kind = &optimizers::sgd;
  sgd.momentum = 0.9;
  sgd.nesterov = true;
  adam.kind = &optimizers::adam;
  adam.amsgrad = true;
  adamw.weight_decay = 0.1;
  plain.clip_norm = sgd.clip_norm = adam.clip_norm = adamw.clip_norm = 1;
  return {plain, sgd, adam, adamw};
}

double wave(int64_t i, int64_t t) { return std::sin(0.1 * static_cast<double>(i * (t + 1))); }

// Parameters of several chunks, and their optimizer.
struct Training {
  Tensor w, b;
  Optimizer optimizer;

  explicit Training(const OptimOptions& options, int64_t rows = 120)
      : w(parameter(Shape{rows, 301}, [](int64_t i) { return wave(i, 3); })),
        b(parameter(Shape{17}, [](int64_t i) { return wave(i, 4); })),
        optimizer(options, {{"w", w}, {"b", b}}) {
    optimizer.set_lr(0.01);
  }

  double step(int64_t t) {
    optimizer.zero_grad();
    give_gradient(w, [t](int64_t i) { return wave(i, t); });
    give_gradient(b, [t](int64_t i) { return wave(i, t + 1); });
    return optimizer.step(0.5);
  }
};

std::vector<real> copy(const Tensor& x) { return {x.values().begin(), x.values().end()}; }

}  // namespace

TEST_CASE(
    "step() returns the norm of all scaled gradients, and clipping scales them to the limit") {
  Tensor w = parameter(Shape{2, 1}, [](int64_t) { return 0; });
  Tensor b = parameter(Shape{1}, [](int64_t) { return 0; });
  OptimOptions options;
  options.kind = &optimizers::sgd;
  options.lr = 1;
  double limit = 0, factor = 1;
  SUBCASE("off") {}
  SUBCASE("above the norm") { limit = 6.6; }
  SUBCASE("below the norm") {
    limit = 1.3;
    factor = 1.3 / (6.5 + 1e-6);
  }
  options.clip_norm = limit;
  Optimizer optimizer(options, {{"w", w}, {"b", b}});
  give_gradient(w, [](int64_t i) { return i == 0 ? 3 : -4; });
  give_gradient(b, [](int64_t) { return 12; });
  CHECK(optimizer.step(0.5) == doctest::Approx(6.5));
  CHECK(w.data()[0] == doctest::Approx(-1.5 * factor));
  CHECK(w.data()[1] == doctest::Approx(2 * factor));
  CHECK(b.data()[0] == doctest::Approx(-6 * factor));
  CHECK(b.grad().item() == 12);  // left as it was
}

TEST_CASE("a step over micro-batches equals the step over the whole batch") {
  // Gradients of examples are integers, so their sum is exact in any order.
  const auto example = [](int64_t n, int64_t i) { return (n * 7 + i * 3) % 11 - 5; };
  for (const OptimOptions& options : one_of_each()) {
    CAPTURE(options.kind->name);
    Training whole(options, 2), halves(options, 2);
    for (int64_t t = 0; t < 3; ++t) {
      const auto sum = [&](int64_t first, int64_t last) {
        return [=](int64_t i) {
          int64_t total = 0;
          for (int64_t n = first; n < last; ++n) total += example(n + 8 * t, i);
          return total;
        };
      };
      whole.optimizer.zero_grad();
      give_gradient(whole.w, sum(0, 8));
      halves.optimizer.zero_grad();
      give_gradient(halves.w, sum(0, 3));
      give_gradient(halves.w, sum(3, 8));
      CHECK(whole.optimizer.step(1.0 / 8) == halves.optimizer.step(1.0 / 8));
    }
    CHECK(copy(whole.w) == copy(halves.w));
  }
}

TEST_CASE("a gradient that is not finite changes nothing") {
  using limits = std::numeric_limits<real>;
  for (const OptimOptions& options : one_of_each()) {
    for (const real bad : {limits::infinity(), -limits::infinity(), limits::quiet_NaN()}) {
      Training training(options), other(options);
      training.step(0);
      other.step(0);
      training.optimizer.zero_grad();
      give_gradient(training.w, [bad](int64_t i) { return i == 30000 ? bad : real{1}; });
      const auto before = copy(training.w);
      CHECK_FALSE(std::isfinite(training.optimizer.step()));
      CHECK(copy(training.w) == before);
      CHECK(training.optimizer.steps() == 1);
      // The next valid step is what it would have been.
      CHECK(training.step(1) == other.step(1));
      CHECK(copy(training.w) == copy(other.w));
      CHECK(copy(training.b) == copy(other.b));
    }
  }
}

TEST_CASE("any number of threads gives the same bits") {
  const int before = thread_count();
  for (const OptimOptions& options : one_of_each()) {
    set_thread_count(1);
    Training single(options);
    std::vector<double> norms;
    for (int64_t t = 0; t < 3; ++t) norms.push_back(single.step(t));
    for (const int threads : {2, 3}) {
      set_thread_count(threads);
      Training parallel(options);
      for (int64_t t = 0; t < 3; ++t) CHECK(parallel.step(t) == norms[static_cast<size_t>(t)]);
      CHECK(copy(parallel.w) == copy(single.w));
      CHECK(copy(parallel.b) == copy(single.b));
    }
  }
  set_thread_count(before);
}

TEST_CASE("a step allocates nothing") {
  const int before = thread_count();
  set_thread_count(1);  // a library of threads may allocate
  for (const OptimOptions& options : one_of_each()) {
    Training training(options);
    training.step(0);
    training.optimizer.zero_grad();
    give_gradient(training.w, [](int64_t) { return 1; });
    pool_reset_peak();
    const int64_t peak = pool_statistics().peak_bytes, calls = allocations();
    const double norm = training.optimizer.step();
    CHECK(allocations() == calls);
    CHECK(pool_statistics().peak_bytes == peak);
    CHECK(norm > 0);
  }
  set_thread_count(before);
}

TEST_CASE("an optimizer does not clip unless it is told to") {
  Tensor w = parameter(Shape{1}, [](int64_t) { return 5; });
  Optimizer optimizer({.kind = &optimizers::sgd, .lr = 1}, {{"w", w}});
  give_gradient(w, [](int64_t) { return 100; });
  CHECK(optimizer.step() == 100);
  CHECK(w.item() == -95);
}

TEST_CASE("weight decay applies to matrices, or with decay = \"all\" to all tensors") {
  const auto check_decay = [](const OptimizerRule* kind, Decay decay) {
    CAPTURE(kind->name);
    const OptimOptions options{.kind = kind, .lr = 0.1, .weight_decay = 0.5, .decay = decay};
    const auto one = [](int64_t) { return 1; };
    Tensor scalar = parameter(Shape{}, one), vector = parameter(Shape{3}, one);
    Tensor matrix = parameter(Shape{2, 2}, one), filters = parameter(Shape{2, 1, 2}, one);
    // Names that make all kinds of neighbours.
    Optimizer optimizer(options, {{"a", scalar}, {"b", matrix}, {"c", filters}, {"d", vector}});
    CHECK(optimizer.step() == 0);
    CHECK(matrix.data()[3] < 0.96);
    CHECK(copy(filters) == copy(matrix));
    const real expected = decay == Decay::all ? matrix.data()[0] : real{1};
    CHECK(scalar.item() == expected);
    CHECK(copy(vector) == std::vector<real>(3, expected));
  };
  for (const OptimizerRule* kind : optimizers::all) {
    check_decay(kind, Decay::matrices);
    check_decay(kind, Decay::all);
  }
}

TEST_CASE("the state is all that the next steps depend on") {
  for (const OptimOptions& options : one_of_each()) {
    Training whole(options), first(options), second(options);
    for (int64_t t = 0; t < 6; ++t) whole.step(t);
    for (int64_t t = 0; t < 3; ++t) first.step(t);
    std::copy_n(first.w.data(), first.w.size(), second.w.mutable_data());
    std::copy_n(first.b.data(), first.b.size(), second.b.mutable_data());
    std::vector<NamedParameter> saved;
    for (const auto& [name, tensor] : state_of(first.optimizer))
      saved.insert(saved.begin(), {name, tensor.clone()});  // in no order
    load_state(second.optimizer, first.optimizer.steps(), saved);
    for (int64_t t = 3; t < 6; ++t) second.step(t);
    CHECK(second.optimizer.steps() == 6);
    CHECK(copy(second.w) == copy(whole.w));
    CHECK(copy(second.b) == copy(whole.b));
  }
}

TEST_CASE("state tensors have the names and shapes of the parameters") {
  OptimOptions options;
  options.amsgrad = true;
  Training training(options);
  std::vector<std::string> names;
  for (const auto& [name, tensor] : state_of(training.optimizer)) {
    names.push_back(name);
    CHECK(tensor.shape() == (name.back() == 'w' ? training.w : training.b).shape());
  }
  CHECK(names == std::vector<std::string>{"exp_avg.b", "exp_avg.w", "exp_avg_sq.b", "exp_avg_sq.w",
                                          "max_exp_avg_sq.b", "max_exp_avg_sq.w"});
  CHECK(state_of(Training(one_of_each()[0]).optimizer).empty());
}

TEST_CASE("a state that does not fit is rejected and changes nothing") {
  Training training({});
  training.step(0);
  std::vector<NamedParameter> saved = state_of(training.optimizer);
  const auto before = copy(saved[1].tensor);
  for (NamedParameter& one : saved) one.tensor = Tensor::zeros(one.tensor.shape());
  int64_t steps = 5;
  SUBCASE("one missing") { saved.pop_back(); }
  SUBCASE("one too many") { saved.push_back({"exp_avg.x", Tensor::zeros(Shape{1})}); }
  SUBCASE("one twice") { saved.push_back(saved[0]); }
  SUBCASE("another name") { saved[0].name = "exp_avg.bias"; }
  SUBCASE("another shape") { saved[3].tensor = Tensor::zeros(Shape{301, 120}); }
  SUBCASE("a negative count") { steps = -1; }
  CHECK_THROWS_AS(load_state(training.optimizer, steps, saved), InputError);
  CHECK(training.optimizer.steps() == 1);
  CHECK(copy(state_of(training.optimizer)[1].tensor) == before);
}

TEST_CASE("contradictory options are rejected") {
  const Tensor w = parameter(Shape{2}, [](int64_t) { return 0; });
  OptimOptions options;
  SUBCASE("momentum for adamw") { options.momentum = 0.9; }
  SUBCASE("nesterov without momentum") {
    options.kind = &optimizers::sgd;
    options.nesterov = true;
  }
  SUBCASE("amsgrad for sgd") {
    options.kind = &optimizers::sgd;
    options.amsgrad = true;
  }
  SUBCASE("beta1") { options.beta1 = 1; }
  SUBCASE("beta2") { options.beta2 = 1; }
  CHECK_THROWS_AS(Optimizer(options, {{"w", w}}), InputError);
}

TEST_CASE("epsilon may be 0: the first step of Adam is then the rate, with the gradient's sign") {
  for (const OptimizerRule* kind : {&optimizers::adam, &optimizers::adamw}) {
    Tensor p = parameter(Shape{2}, [](int64_t) { return 0; });
    Optimizer optimizer({.kind = kind, .lr = 0.25, .clip_norm = 0, .epsilon = 0}, {{"p", p}});
    optimizer.zero_grad();
    give_gradient(p, [](int64_t i) { return i == 0 ? -1e-3 : 3; });
    optimizer.step();
    CHECK(p.data()[0] == doctest::Approx(0.25));
    CHECK(p.data()[1] == doctest::Approx(-0.25));
  }
}

TEST_CASE("a learning rate that is not a number is an error") {
  Training training({});
  CHECK_THROWS_AS(training.optimizer.set_lr(NAN), Error);
  CHECK(training.optimizer.lr() == 0.01);
}

TEST_CASE("every optimizer finds the minimum of Rosenbrock's function") {
  // f(x, y) = (1 - x)² + 100 (y - x²)², minimum at (1, 1)
  for (const OptimOptions& options : one_of_each()) {
    CAPTURE(options.kind->name);
    Tensor p = parameter(Shape{2}, [](int64_t i) { return i == 0 ? -1.2 : 1.0; });
    Optimizer optimizer(options, {{"p", p}});
    optimizer.set_lr(options.kind == &optimizers::sgd ? 1e-3 : 1e-2);
    for (int64_t t = 0; t < 20000; ++t) {
      const double x = p.data()[0], y = p.data()[1];
      optimizer.zero_grad();
      give_gradient(p, [=](int64_t i) {
        return i == 0 ? -2 * (1 - x) - 400 * x * (y - x * x) : 200 * (y - x * x);
      });
      optimizer.step();
    }
    CHECK(p.data()[0] == doctest::Approx(1).epsilon(0.01));
    CHECK(p.data()[1] == doctest::Approx(1).epsilon(0.02));
  }
}
