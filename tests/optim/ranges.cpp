// Optimizers, schedules and averages reject options that a config would reject.
#include <doctest/doctest.h>

#include "allocations.h"
#include "checks.h"
#include "optim/average.h"
#include "optim/layout.h"
#include "optim/schedule.h"
#include "out_of_range.h"

namespace heed::inline HEED_REAL::testing {
namespace {

Tensor weight() { return Tensor::zeros({2, 2}).set_requires_grad(); }

TEST_CASE("an optimizer rejects every value out of its range") {
  check_ranges(OptimOptions(), [](const OptimOptions& o) { Optimizer(o, {{"w", weight()}}); });
  CHECK(thrown<InputError>([] {
          Optimizer({.lr = -0.1}, {{"w", weight()}});
        }) == "optimizer: lr: expected a number, ≥ 0, found -0.1");
  Optimizer optimizer({}, {{"w", weight()}});
  CHECK(thrown<InputError>([&] { optimizer.set_lr(-1); }) ==
        "optimizer: lr: expected a number, ≥ 0, found -1");
}

TEST_CASE("a number in its range costs no text of an error") {
  const int64_t calls = allocations();
  check_range("average", "ema", 0.5, ema_range);
  check_range("average", "snapshots", int64_t{5}, Range{1, 1'000'000});
  CHECK(allocations() == calls);
}

TEST_CASE("a schedule rejects every value out of its range") {
  check_ranges(ScheduleOptions(), [](const ScheduleOptions& o) { Schedule(o, 0.1, 10); });
  CHECK(thrown<InputError>([] { Schedule({}, -0.1, 10); }) ==
        "schedule: peak: expected a number, ≥ 0, found -0.1");
}

TEST_CASE("an average rejects every value out of its range") {
  Optimizer optimizer({}, {{"w", weight()}});
  const auto error = [&](const AverageOptions& o) {
    return thrown<InputError>([&] { WeightAverage(optimizer.layout().arena, o); });
  };
  CHECK(error({.ema = -0.1}) == "average: ema: expected a number, 0 … 0.999999, found -0.1");
  CHECK(error({.ema = 1}) == "average: ema: expected a number, 0 … 0.999999, found 1");
  CHECK(error({.ema = NAN}) == "average: ema: expected a number, 0 … 0.999999, found nan");
  CHECK(error({.snapshots = 0}) == "average: snapshots: expected an integer, 1 … 100, found 0");
  CHECK(error({.snapshots = 101}) == "average: snapshots: expected an integer, 1 … 100, found 101");
  CHECK(error({.snapshots = 2, .every = 0}) == "average: every: expected an integer, ≥ 1, found 0");
  CHECK(error({.ema = 0.9, .snapshots = 2}) == "average: both kinds of averages are set");
}

}  // namespace
}  // namespace heed::inline HEED_REAL::testing
