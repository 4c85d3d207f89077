// Optimizers and schedules against PyTorch's (tests/fixtures/make_optim.py).
#include <doctest/doctest.h>

#include <cmath>

#include "optim/average.h"
#include "optim/fixture.h"
#include "optim/layout.h"
#include "optim/plateau.h"
#include "optim/schedule.h"
#include "optim/trained.h"

using namespace heed;

namespace {

constexpr int64_t rows = 3, columns = 4, bias = 5, count = rows * columns + bias;

double initial(int64_t i) { return std::sin(static_cast<double>(i) + 1.0); }

double gradient(int64_t i, int64_t t) {
  return std::sin(0.7 * static_cast<double>(t) + 1.3 * static_cast<double>(i)) *
         std::exp(static_cast<double>(-t) / 25.0) * std::pow(10.0, static_cast<double>(-(i % 4)));
}

// ‖ours - theirs‖ / ‖theirs‖
double relative_error(const std::vector<double>& ours, const std::vector<double>& theirs) {
  REQUIRE(ours.size() == theirs.size());
  double difference = 0, size = 0;
  for (size_t i = 0; i < ours.size(); ++i) {
    difference += (ours[i] - theirs[i]) * (ours[i] - theirs[i]);
    size += theirs[i] * theirs[i];
  }
  return std::sqrt(difference / size);
}

}  // namespace

TEST_CASE("optimizers follow PyTorch's for 100 steps") {
  const double bound = sizeof(real) == 8 ? 1e-10 : 1e-5;
  const std::vector<Case> cases = read_cases("trajectory");
  CHECK(cases.size() == 16);
  for (Case expected : cases) {
    CAPTURE(expected.name);
    OptimOptions options;
    const double scale = expected.take("scale");
    FieldSetter setter(expected.options);
    options.fields(setter);
    REQUIRE(expected.options.empty());

    Tensor w = parameter(Shape{rows, columns}, [](int64_t i) { return initial(i); });
    Tensor b = parameter(Shape{bias}, [](int64_t i) { return initial(rows * columns + i); });
    Optimizer optimizer(options, {{"w", w}, {"b", b}});
    WeightAverage average(optimizer.layout().arena, {.ema = options.ema});
    size_t row = 0;
    for (int64_t t = 1; t <= 100; ++t) {
      optimizer.zero_grad();
      give_gradient(w, [&](int64_t i) { return gradient(i, t); });
      give_gradient(b, [&](int64_t i) { return gradient(rows * columns + i, t); });
      optimizer.set_lr(options.lr / (1 + static_cast<double>(t) / 50.0));
      const double norm = optimizer.step(scale);
      average.update(t);

      const std::vector<double>& reference = expected.rows[row];
      if (reference[0] != static_cast<double>(t)) continue;
      CAPTURE(t);
      CHECK(norm == doctest::Approx(reference[1]).epsilon(bound));
      average.apply(t);
      std::vector<double> ours(w.values().begin(), w.values().end());
      ours.insert(ours.end(), b.values().begin(), b.values().end());
      CHECK(relative_error(ours, {reference.begin() + 2, reference.end()}) <= bound);
      average.restore(t);
      ++row;
    }
    CHECK(row == expected.rows.size());
  }
}

TEST_CASE("schedules equal PyTorch's, nanoGPT's and fairseq's") {
  const std::vector<Case> cases = read_cases("schedule");
  CHECK(cases.size() == 13);
  for (Case expected : cases) {
    CAPTURE(expected.name);
    ScheduleOptions options;
    const double peak = expected.take("lr");
    const double train_steps = expected.take("train_steps");
    FieldSetter setter(expected.options);
    options.fields(setter);
    REQUIRE(expected.options.empty());

    Schedule schedule(options, peak, static_cast<int64_t>(train_steps));
    Plateau plateau(schedule);
    int64_t step = 1;
    for (const std::vector<double>& row : expected.rows) {
      CAPTURE(row[0]);
      if (options.kind->uses_loss) {
        plateau.observe(row[0]);
      } else {
        step = static_cast<int64_t>(row[0]);
      }
      CHECK(std::abs(schedule.rate(step) - row[1]) <= 1e-12 * row[1]);
    }
  }
}
