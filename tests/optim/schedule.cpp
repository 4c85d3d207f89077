// Schedules beyond what pytorch.cpp compares: published values, ends, the state of plateau.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "optim/plateau.h"
#include "optim/rules.h"

using namespace heed;

namespace {

ScheduleOptions options(const ScheduleRule& kind, int64_t warmup_steps = 0, double min_lr = 0) {
  ScheduleOptions made;
  made.kind = &kind;
  made.warmup_steps = warmup_steps;
  made.min_lr = min_lr;
  return made;
}

}  // namespace

TEST_CASE(
    "inverse_sqrt with dim gives the rates of Attention Is All You Need: width 512, 4000 warm-up "
    "steps") {
  ScheduleOptions vaswani = options(schedules::inverse_sqrt, 4000);
  vaswani.dim = 512;
  const Schedule schedule(vaswani, 123, 100000);  // optim.lr has no effect
  CHECK(schedule.rate(1) == doctest::Approx(1.746928e-7).epsilon(1e-6));
  CHECK(schedule.rate(4000) == doctest::Approx(6.987712e-4).epsilon(1e-6));
  CHECK(schedule.rate(16000) == doctest::Approx(6.987712e-4 / 2).epsilon(1e-6));
}

TEST_CASE("warm-up increases the rate to the peak") {
  for (const ScheduleRule* kind : schedules::all) {
    CAPTURE(kind->name);
    const Schedule schedule(options(*kind, 10), 2.0, 100);
    for (int64_t step = 1; step <= 10; ++step)
      CHECK(schedule.rate(step) == doctest::Approx(0.2 * static_cast<double>(step)));
    CHECK(schedule.rate(11) <= 2.0);
    CHECK(schedule.rate(11) > 1.8);
  }
}

TEST_CASE("without warm-up, constant and inverse_sqrt start at the peak") {
  CHECK(Schedule(options(schedules::constant), 0.5, 10).rate(1) == 0.5);
  CHECK(Schedule(options(schedules::inverse_sqrt), 0.5, 10).rate(1) == 0.5);
  CHECK(Schedule(options(schedules::inverse_sqrt), 0.5, 10).rate(4) == 0.25);
}

TEST_CASE("linear and cosine end at min_lr and stay there, also in short runs") {
  for (const ScheduleRule* kind : {&schedules::linear, &schedules::cosine}) {
    const Schedule schedule(options(*kind, 10, 0.25), 2.0, 50);
    CHECK(schedule.rate(49) > 0.25);
    for (const int64_t step : {50, 51, 1000}) CHECK(schedule.rate(step) == 0.25);
    CHECK(Schedule(options(*kind, 10, 0.25), 2.0, 10).rate(11) == 0.25);
    CHECK(Schedule(options(*kind, 10, 0.25), 2.0, 5).rate(6) == doctest::Approx(1.2));
    CHECK(Schedule(options(*kind, 0, 0.25), 2.0, 0).rate(1) == 0.25);
  }
}

TEST_CASE("the length is train.steps by default") {
  ScheduleOptions linear = options(schedules::linear);
  CHECK(Schedule(linear, 1.0, 10).rate(5) == 0.5);
  linear.steps = 20;
  CHECK(Schedule(linear, 1.0, 10).rate(5) == 0.75);
}

TEST_CASE("plateau resumes from its state, which is always finite") {
  ScheduleOptions patient = options(schedules::plateau, 4, 0.01);
  patient.patience = 2;
  patient.factor = 0.5;
  const double losses[] = {3, 2, 2.5, NAN, 2.1, 1.5, 1.6, 1.7, 1.8, 1.4, 1.4, 1.4, 1.4};
  Schedule whole(patient, 0.1, 100);
  Plateau of_whole(whole);
  for (const double loss : losses) of_whole.observe(loss);
  CHECK(whole.rate(100) == doctest::Approx(0.1 / 8));
  CHECK(whole.rate(2) == doctest::Approx(0.1 / 16));  // warm-up leads to the reduced rate

  for (size_t cut = 0; cut <= std::size(losses); ++cut) {
    Schedule first(patient, 0.1, 100), second(patient, 0.1, 100);
    Plateau of_first(first), of_second(second);
    for (size_t i = 0; i < cut; ++i) of_first.observe(losses[i]);
    for (const auto& [name, value] : of_first.state()) CHECK(std::isfinite(value));
    of_second.load_state(of_first.state());
    for (size_t i = cut; i < std::size(losses); ++i) of_second.observe(losses[i]);
    CHECK(of_second.state() == of_whole.state());
    CHECK(second.rate(100) == whole.rate(100));
  }
}

TEST_CASE("invalid options, steps and states are rejected") {
  CHECK_THROWS_AS(Schedule(options(schedules::cosine, 0, 0.2), 0.1, 10), InputError);
  CHECK_THROWS_AS(Schedule({}, 0.1, 10).rate(0), Error);
  Schedule schedule(options(schedules::plateau), 0.1, 10);
  Plateau plateau(schedule);
  CHECK_THROWS_AS(plateau.load_state({}), InputError);
  for (const char* name : {"best", "level", "bad_evaluations"}) {
    auto saved = plateau.state();
    saved[name] = std::numeric_limits<double>::quiet_NaN();
    CHECK_THROWS_AS(plateau.load_state(saved), InputError);
  }
  auto saved = plateau.state();
  saved["bad_evaluations"] = 1e300;
  CHECK_THROWS_AS(plateau.load_state(saved), InputError);
}
