#include "lab/report/arrivals.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "lab/report/sweep_data.h"

namespace heed {

Arrivals arrivals_of(const RunGroups& groups, const ScoreTarget& target) {
  Arrivals arrivals{target, {}};
  bool any = false;
  for (const RunGroup& group : groups.groups) {
    Arrivals::Group& each = arrivals.groups.emplace_back();
    std::vector<Reached> counted;
    for (const ScoredRun& run : group.runs) {
      const std::optional<Reached> first = reached(run.folder, target);
      any = any || first;
      if (!first) continue;
      if (run.state == RunState::failed || (run.state != RunState::done && first->reached == 0)) {
        ++each.left_out;
        continue;
      }
      counted.push_back(*first);
      arrivals.last_step = std::max(arrivals.last_step, first->last_step);
      each.steps.emplace_back(run.seed,
                              first->reached > 0 ? std::optional(first->steps) : std::nullopt);
    }
    each.median = median_reached(counted);
  }
  check_input(any,
              "--target: no metrics.jsonl of these runs has {}; scores are written at evaluations, "
              "such as val.loss",
              target.score);
  return arrivals;
}

Json arrivals_json(const Arrivals& arrivals, const std::vector<size_t>& order) {
  Json list = Json::array();
  for (const size_t i : order) {
    const Arrivals::Group& each = arrivals.groups[i];
    Json steps = Json::array();
    for (const auto& [seed, step] : each.steps)
      steps.push(Json::object().set("seed", seed).set("step", step));
    list.push(Json::object()
                  .set("median", each.median ? each.median->steps : INFINITY)
                  .set("steps", std::move(steps)));
  }
  return Json::object()
      .set("score", arrivals.target.score)
      .set("last", arrivals.last_step)
      .set("groups", std::move(list));
}

}  // namespace heed
