// Evaluates a model on a dataset.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "apps/config/score.h"
#include "data/batch.h"
#include "nn/models.h"

namespace heed {

// The result of one example.
struct Outcome {
  bool correct = true;                  // every target is predicted
  int32_t expected = 0, predicted = 0;  // of a classifier
  int64_t targets = 0;
  double loss = 0;          // sum over targets of -log p(target), in nats
  int64_t first_error = 0;  // the first target that is not predicted, from 1 on; 0: none

  double mean_loss() const { return targets > 0 ? loss / static_cast<double>(targets) : 0; }
};

// How often each target was predicted as each token or class: counts by (target, prediction).
using TargetCounts = std::map<std::pair<int32_t, int32_t>, int64_t>;

// Evaluates every example of the dataset once, without dropout. Does not change the state of
// training. The ranks (core/ranks.h) share the examples, and all get the same scores. Appends the
// result of each example to `outcomes` and adds its targets to `counts`, unless these are null.
Measured evaluate(const Model& model, const Dataset& dataset, ModelKind framing, int64_t batch_size,
                  std::vector<Outcome>* outcomes = nullptr, TargetCounts* counts = nullptr);

}  // namespace heed
