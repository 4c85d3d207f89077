#include "apps/training/loop_state.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

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

// Returns whether the weights are averaged over checkpoints, whose interval then matters.
static bool is_averaged(const ConfigListing& config) {
  for (const ConfigSection& section : config)
    for (const ConfigEntry& entry : section.entries)
      if (entry.key == "train.average_checkpoints") return entry.value != "1";
  return false;
}

KeyEffect effect_of(const std::string& key, const ConfigListing& config) {
  static const std::set<std::string> without = {"threads",
                                                "train.checkpoint_every",
                                                "train.log_every",
                                                "train.statistics",
                                                "train.evaluate_splits",
                                                "train.samples",
                                                "train.keep_checkpoints",
                                                "train.detect_anomaly",
                                                "train.rank_timeout",
                                                "data.keep"};
  static const std::set<std::string> of_data = {"data.path",
                                                "data.paths",
                                                "data.target_path",
                                                "data.val_path",
                                                "data.val_target_path",
                                                "data.test_path",
                                                "data.test_target_path",
                                                "data.tokenizer"};
  static const std::set<std::string> of_result = {"train.steps", "train.evaluate_every",
                                                  "train.patience"};
  if (key == "train.checkpoint_every" && is_averaged(config)) return KeyEffect::weights;
  return without.contains(key)     ? KeyEffect::none
         : of_data.contains(key)   ? KeyEffect::data
         : of_result.contains(key) ? KeyEffect::result
                                   : KeyEffect::weights;
}

bool changes_result(const std::string& key, const ConfigListing& config) {
  const KeyEffect effect = effect_of(key, config);
  return effect == KeyEffect::result || effect == KeyEffect::weights;
}

void check_resumable(const ConfigListing& before, const ConfigListing& now,
                     const std::string& run) {
  std::string differences;
  for (const ConfigDifference& difference : config_differences(before, now))
    if (effect_of(difference.key, before) == KeyEffect::weights)
      differences += fmt::format("{}{} = {}, now {}", differences.empty() ? "" : "; ",
                                 difference.key, shortened(difference.a), shortened(difference.b));
  check_input(differences.empty(),
              "{}: cannot be resumed with other values: {}; only train.steps and the intervals of "
              "logs, evaluations and checkpoints may change: remove the other changes, or start a "
              "new run",
              run, differences);
}

}  // namespace heed
