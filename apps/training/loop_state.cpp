#include "apps/training/loop_state.h"

#include <fmt/format.h>

#include <cmath>

#include "apps/config/config.h"
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

// Returns the step at which the schedule ends.
static int64_t schedule_end(const Experiment& experiment) {
  const int64_t steps = experiment.schedule.steps;
  return steps > 0 ? steps : experiment.train.steps;
}

void check_resumable(const Experiment& before, const Experiment& now, const std::string& run) {
  std::string differences;
  for (const auto& [was, is] : config_differences(list_config(before), list_config(now)))
    if (was.effect == Field::Effect::weights &&
        !(was.key == "schedule.steps" && schedule_end(before) == schedule_end(now)))
      differences += fmt::format("{}{} = {}, now {}", differences.empty() ? "" : "; ", was.key,
                                 shortened(was.text()), shortened(is.text()));
  check_input(differences.empty(),
              "{}: cannot be resumed with other values: {}; only train.steps and the intervals of "
              "logs, evaluations and checkpoints may change: remove the other changes, or start a "
              "new run",
              run, differences);
  const int64_t steps = before.train.steps, fewer = now.train.steps;
  check_input(steps <= fewer,
              "{}: cannot be shortened: train.steps = {}, now {}; --until {} pauses it there and "
              "keeps its schedule; for a shorter schedule start a new run",
              run, steps, fewer, fewer);
}

}  // namespace heed
