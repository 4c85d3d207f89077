#include "apps/training/loop_state.h"

#include <fmt/format.h>

#include <cmath>

#include "apps/config/used_keys.h"
#include "apps/support/numbers.h"
#include "core/check.h"
#include "core/text.h"

namespace heed {

Json LoopState::json() const {
  return Json::object()
      .set("best_step", best_step)
      .set("best_score", best_score)
      .set("evaluations_since_best", evaluations_since_best)
      .set("loss_sum", loss_sum)
      .set("loss_count", loss_count)
      .set("tokens", tokens)
      .set("step_seconds", step_seconds)
      .set("seconds", seconds);
}

LoopState LoopState::from(const Json& json) {
  const auto count = [&](const char* name) {
    const int64_t value = json.at(name).integer();
    check_input(0 <= value && value <= 1'000'000'000'000'000, "'{}' is {}", name, value);
    return value;
  };
  const auto finite = [&](const char* name) {
    const double value = json.at(name).number();
    check_input(std::isfinite(value), "'{}' is {}", name, value);
    return value;
  };
  const auto seconds_of = [&](const char* name) {
    const double value = finite(name);
    check_input(0 <= value && value < 1e12, "'{}' is {}", name, value);
    return value;
  };
  LoopState state;
  state.best_step = count("best_step");
  state.best_score = finite("best_score");
  state.evaluations_since_best = count("evaluations_since_best");
  state.loss_sum = finite("loss_sum");
  state.loss_count = count("loss_count");
  state.tokens = count("tokens");
  state.step_seconds = seconds_of("step_seconds");
  state.seconds = seconds_of("seconds");
  return state;
}

namespace {

double number_at(const ConfigListing& config, const char* key) {
  return number_of_text(value_of(config, key)).value_or(0);
}

// Returns the step at which the schedule ends.
double schedule_end(const ConfigListing& config) {
  const double steps = number_at(config, "schedule.steps");
  return steps > 0 ? steps : number_at(config, "train.steps");
}

}  // namespace

void check_resumable(const ConfigListing& before, const ConfigListing& now,
                     const std::string& run) {
  std::string differences;
  for (const ConfigDifference& difference : config_differences(before, now))
    if (effect_of(difference.key, before) == Field::Effect::weights &&
        !(difference.key == "schedule.steps" && schedule_end(before) == schedule_end(now)))
      differences += fmt::format("{}{} = {}, now {}", differences.empty() ? "" : "; ",
                                 difference.key, shortened(difference.a), shortened(difference.b));
  check_input(differences.empty(),
              "{}: cannot be resumed with other values: {}; only train.steps and the intervals of "
              "logs, evaluations and checkpoints may change: remove the other changes, or start a "
              "new run",
              run, differences);
  const double steps = number_at(before, "train.steps"), fewer = number_at(now, "train.steps");
  check_input(steps <= fewer,
              "{}: cannot be shortened: train.steps = {}, now {}; --until {} pauses it there and "
              "keeps its schedule; for a shorter schedule start a new run",
              run, steps, fewer, fewer);
}

}  // namespace heed
