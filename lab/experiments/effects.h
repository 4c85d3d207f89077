// The effect of each key and of each group on a score, by pairs of runs with the same seed.
//
// Where two or more keys vary, each key is answered first: within each seed the score is averaged
// over the values of the other keys, so n is the number of seeds. Then each group is compared with
// the first one. apps/inference/scores.h decides which scores are compared by their ratio.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lab/experiments/groups.h"
#include "lab/experiments/statistics.h"

namespace heed {

struct Comparison {
  std::vector<int64_t> seeds = {};                  // that both sides have
  Effect effect = {NAN, {-INFINITY, INFINITY}, 1};  // this is the value without seeds
  double adjusted_p = 1;  // by Holm, over the comparisons of one key, or of all groups

  // Returns whether the interval and p give different answers at the 5 % level.
  bool disagrees(double no_effect) const;
};

// A group against the first one.
struct GroupComparison : Comparison {
  size_t group = 0;       // index
  bool same_data = true;  // otherwise it has no seeds: differences would mix two causes
};

// The values of a key, or of keys that vary together, against their values in the first group.
struct KeyEffects {
  struct Value : Comparison {
    std::vector<std::string> values = {};  // one for each key, as TOML
  };
  std::vector<std::string> keys;
  std::vector<std::string> first;  // values
  std::vector<Value> values;       // only those that share a setting of the other keys with `first`
};

struct Effects {
  std::string score;
  bool by_ratio = false;
  size_t first = 0;                          // the first group with the score
  std::vector<KeyEffects> keys = {};         // empty unless two or more keys vary independently
  std::vector<GroupComparison> groups = {};  // all but the first; those before it are without seeds
  int64_t not_positive = 0;  // runs whose score is 0 or less: the reason against a ratio
  int64_t not_finite = 0;    // runs that are done without a finite score: they have no pair

  bool any() const;  // whether two groups have a seed in common
  double no_effect() const { return by_ratio ? 1 : 0; }
  // Returns "ratio" or "difference".
  const char* size_name() const { return by_ratio ? "ratio" : "difference"; }
};
Effects effects_on(const RunGroups& groups, const std::string& score);

// Returns what a reader must know to read the effects: too few seeds for any p below 0.05, and how
// many would do; rows whose interval and p disagree, and what each assumes; runs and groups without
// a pair.
std::vector<std::string> warnings_of(const Effects& effects, const RunGroups& groups);

// Returns "optim.lr = 0.001, model.layers = 2", of more than six keys the first ones.
std::string settings_text(const std::vector<std::string>& keys,
                          const std::vector<std::string>& values);

}  // namespace heed
