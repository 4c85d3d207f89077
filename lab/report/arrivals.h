// The time to a target: when the seeds of each group reached a score for the first time.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "apps/support/json.h"
#include "lab/experiments/groups.h"

namespace heed {

struct Arrivals {
  struct Group {
    // Runs that failed, and those that train and have not reached it, are left out.
    std::vector<std::pair<int64_t, std::optional<double>>> steps;  // by seed; none: never
    std::optional<Reached> median;
    int64_t left_out = 0;
  };
  ScoreTarget target;
  std::vector<Group> groups;  // in the order of RunGroups
  double last_step = 0;       // of all runs
};

// Throws InputError if no run has the score in its metrics.
Arrivals arrivals_of(const RunGroups& groups, const ScoreTarget& target);

// Returns what scripts draw of the groups in this order:
//
//   {"score", "last": step, "groups": [{"median": step or null,
//                                       "steps": [{"seed", "step": step or null}]}]}
Json arrivals_json(const Arrivals& arrivals, const std::vector<size_t>& order);

}  // namespace heed
