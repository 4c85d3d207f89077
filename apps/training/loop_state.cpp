#include "apps/training/loop_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/check.h"

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
  LoopState state;
  state.best_step = json.at("best_step").integer();
  state.best_score = json.at("best_score").number();
  state.evaluations_since_best = json.at("evaluations_since_best").integer();
  state.loss_sum = json.at("loss_sum").number();
  state.loss_count = json.at("loss_count").integer();
  state.tokens = json.at("tokens").integer();
  state.step_seconds = json.at("step_seconds").number();
  state.seconds = json.at("seconds").number();
  return state;
}

void check_resumable(const ConfigListing& before, const ConfigListing& now,
                     const std::string& run) {
  // Data may have moved: they are compared themselves, by their fingerprint.
  const std::vector<std::string> free = {"threads",
                                         "train.steps",
                                         "train.evaluate_every",
                                         "train.checkpoint_every",
                                         "train.log_every",
                                         "train.samples",
                                         "train.keep_checkpoints",
                                         "train.patience",
                                         "train.detect_anomaly",
                                         "data.path",
                                         "data.paths",
                                         "data.target_path",
                                         "data.val_path",
                                         "data.val_target_path",
                                         "data.test_path",
                                         "data.test_target_path"};
  std::string differences;
  for (const ConfigDifference& difference : config_differences(before, now))
    if (std::find(free.begin(), free.end(), difference.key) == free.end())
      differences += fmt::format("{}{} = {}, now {}", differences.empty() ? "" : "; ",
                                 difference.key, difference.a, difference.b);
  check_input(differences.empty(),
              "{}: cannot be resumed with other values: {}; only train.steps and how often to log, "
              "evaluate and save may change: leave the others out, or start a new run",
              run, differences);
}

}  // namespace heed
