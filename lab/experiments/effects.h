// The effect of each key and of each group on a score, by pairs of runs with the same seed.
//
// Where two or more keys vary, each key is answered first: within each seed the score is averaged
// over the values of the other keys, so n is the number of seeds. Then each group is compared with
// the first one, or with the one that an EffectQuestion names. lab/experiments/score_kinds.h
// decides which scores are compared by their ratio.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lab/experiments/groups.h"
#include "lab/experiments/statistics.h"

namespace heed {

// The level of intervals, below which p counts as evidence.
inline constexpr double significance_level = 0.05;

struct Comparison {
  std::vector<int64_t> seeds = {};       // that both sides have
  std::vector<double> differences = {};  // of each, between logarithms where ratios are compared
  Effect effect = {NAN, {-INFINITY, INFINITY}, NAN};  // this is the value without seeds
  double adjusted_p = NAN;  // by Holm, over the comparisons of one key, or of all groups

  // The p of sign flips, which does not assume a bell curve; NaN without seeds.
  double flipped_p() const { return seeds.empty() ? NAN : sign_flip_p(differences); }
};

// A group against another one: the first, or the one that differs in a key only.
struct GroupComparison : Comparison {
  size_t group = 0, against = 0;  // indices
  bool same_data = true;          // otherwise it has no seeds: differences would mix two causes
};

// The values of a key, or of keys that vary together, against their values in the first group.
struct KeyEffects {
  struct Value : Comparison {
    std::vector<std::string> values = {};  // one for each key
  };
  std::vector<std::string> keys;
  std::vector<std::string> first;  // values
  std::vector<Value> values;       // only those that share a setting of the other keys with `first`
};

// What the effect of one key depends on: the difference between two values of it at a value of
// another key, minus the same difference at another value of that key.
struct Interaction : Comparison {
  std::array<std::string, 2> values, against;  // of the two keys
};
struct Interactions {
  std::array<std::string, 2> keys;
  std::vector<Interaction> values;
};

// What is asked besides the default.
struct EffectQuestion {
  std::string baseline = "";                  // "KEY=VALUE"; "": the first group
  std::vector<std::string> interaction = {};  // two keys, or none
};

struct Effects {
  std::string score;
  bool by_ratio = false;
  // The largest difference that there can be, such as 1 between accuracies. Intervals end there.
  double largest = INFINITY;
  size_t first = 0;                          // the first group with the score
  std::string baseline = {};                 // the key of the question, or ""
  std::vector<KeyEffects> keys = {};         // empty unless two or more keys vary independently
  std::vector<GroupComparison> groups = {};  // all but the first; those before it are without seeds
  Interactions interactions = {};
  int64_t without_baseline = 0;  // groups that no group of the baseline's value is a counterpart of
  int64_t not_positive = 0;      // runs whose score is 0 or less: the reason against a ratio
  int64_t not_finite = 0;        // runs that are done without a finite score: they have no pair

  bool any() const;  // whether two groups have a seed in common
  double no_effect() const { return by_ratio ? 1 : 0; }
  // Returns "ratio" or "difference".
  const char* size_name() const { return by_ratio ? "ratio" : "difference"; }
};
// With a baseline there are no `keys`, and each group is compared with the one that differs in that
// key only, or in keys that vary together with it. A key that one of the two does not use counts as
// equal. Throws InputError for a question whose keys or value these groups do not have.
Effects effects_on(const SeedGroups& groups, const std::string& score,
                   const EffectQuestion& question = {});

// Returns what a reader must know to read the effects: what intervals of few pairs assume, and what
// would be needed without that; runs and groups without a pair.
std::vector<std::string> warnings_of(const Effects& effects, const SeedGroups& groups);

// Returns "rotary − sinusoidal at model.dim = 64: test.exact_match is higher by 29.0 points (21.1
// to 36.9; 8 pairs), p = 0.0078 (Holm 0.0156)" for each comparison with a baseline and each
// interaction. Without them, for a single comparison of two groups.
std::vector<std::string> sentences_of(const Effects& effects, const SeedGroups& groups);

// Returns "optim.lr = 0.001, model.layers = 2", of more than six keys the first ones.
std::string settings_text(const std::vector<std::string>& keys,
                          const std::vector<std::string>& values);

}  // namespace heed
