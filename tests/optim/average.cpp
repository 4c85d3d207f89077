// Averages of the weights against plain loops.
#include "optim/average.h"

#include <cmath>

#include "core/parallel.h"
#include "optim/trained.h"

using namespace heed;

namespace {

double weight(int64_t i, int64_t step) {
  return std::sin(0.3 * static_cast<double>(i + 1) * static_cast<double>(step + 2));
}

// Parameters of several chunks, whose values after a step are weight(i, step).
struct Weights {
  Tensor w = parameter(Shape{90, 301}, [](int64_t i) { return weight(i, 0); });
  Tensor b = parameter(Shape{5}, [](int64_t i) { return weight(i, 0); });
  Arena arena{{{"w", w}, {"b", b}}};

  void set(int64_t step) {
    for (Tensor* tensor : {&w, &b})
      for (int64_t i = 0; i < tensor->size(); ++i)
        tensor->mutable_data()[i] = static_cast<real>(weight(i, step));
  }
};

// Calls expected(i) for the elements that both tensors are compared at.
template <class F>
void check_weights(const Weights& weights, const F& expected) {
  for (const Tensor* tensor : {&weights.w, &weights.b})
    for (int64_t i = 0; i < tensor->size(); i += i < 20 ? 1 : 997)
      CHECK(tensor->data()[i] == doctest::Approx(expected(i)).epsilon(1e-6).scale(1));
}

}  // namespace

TEST_CASE("ema: decay · average + (1 - decay) · w, from the weights of the first step") {
  Weights weights;
  WeightAverage average(weights.arena, {.ema = 0.9});
  for (int64_t step = 1; step <= 12; ++step) {
    weights.set(step);
    average.update(step);
    average.apply(step);
    check_weights(weights, [&](int64_t i) {
      double mean = weight(i, 1);
      for (int64_t t = 2; t <= step; ++t) mean = 0.9 * mean + 0.1 * weight(i, t);
      return mean;
    });
    average.restore(step);
    check_weights(weights, [&](int64_t i) { return weight(i, step); });
  }
}

TEST_CASE("snapshots: the mean of the present weights and of the last n - 1 checkpoints") {
  Weights weights;
  WeightAverage average(weights.arena, {.snapshots = 3, .every = 4});
  for (int64_t step = 1; step <= 25; ++step) {
    weights.set(step);
    average.update(step);
    if (step % 3 == 1) continue;  // applied at some steps only
    average.apply(step);
    check_weights(weights, [&](int64_t i) {
      double sum = weight(i, step), count = 1;
      for (int64_t t = (step - 1) / 4 * 4; t > 0 && count < 3; t -= 4, ++count) sum += weight(i, t);
      return sum / count;
    });
    average.restore(step);
    check_weights(weights, [&](int64_t i) { return weight(i, step); });
  }
}

TEST_CASE("averages are the same bits for any number of threads, and when restored from a state") {
  for (const AverageOptions& options :
       {AverageOptions{.ema = 0.97}, AverageOptions{.snapshots = 4, .every = 2}}) {
    const auto bits = [&](int threads, int64_t saved_at) {
      set_thread_count(threads);
      Weights weights;
      auto average = std::make_unique<WeightAverage>(weights.arena, options);
      for (int64_t step = 1; step <= 9; ++step) {
        weights.set(step);
        average->update(step);
        if (step != saved_at) continue;
        average->apply(step);
        auto resumed = std::make_unique<WeightAverage>(weights.arena, options);
        std::vector<NamedParameter> from = average->state(), to = resumed->state();
        for (size_t i = 0; i < from.size(); ++i) {
          CHECK(from[i].name == to[i].name);
          std::copy_n(from[i].tensor.data(), from[i].tensor.size(), to[i].tensor.mutable_data());
        }
        average = std::move(resumed);
        average->restore(step);
        check_weights(weights, [&](int64_t i) { return weight(i, step); });
      }
      average->apply(9);
      return std::vector<real>(weights.w.values().begin(), weights.w.values().end());
    };
    const int before = thread_count();
    const std::vector<real> one = bits(1, 0);
    CHECK(one == bits(3, 0));
    CHECK(one == bits(2, 5));
    set_thread_count(before);
  }
}

TEST_CASE("without an average nothing is stored or changed") {
  Weights weights;
  WeightAverage average(weights.arena, {});
  weights.set(1);
  average.update(1);
  average.apply(1);
  check_weights(weights, [](int64_t i) { return static_cast<real>(weight(i, 1)); });
  CHECK(average.state().empty());
}
