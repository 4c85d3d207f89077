// The gradient of a step, computed in shards (train.shards): parts of its micro-batches that need
// nothing of one another, so that each thread takes whole shards through the entire graph, without
// a barrier between operations.
//
// The gradients of M shards are added in one binary tree, whoever computes them:
//
//   shards    0   1   2   3   4   5   6   7         M = 8
//             └─+─┘   └─+─┘   └─+─┘   └─+─┘
//               └───+───┘       └───+───┘
//                   └───────+───────┘
//
// Each of P threads, a power of two, takes M / P neighbours, which are a whole subtree, and adds
// them up as it goes: with log2(M / P) arrays, one for each level that waits for its right half.
// The results of the threads are then added in the upper levels. So the bits depend on M and not on
// the number of threads. With one shard the gradient is that of the whole micro-batch, and the
// loops inside the operations have all threads.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "apps/config/experiment.h"
#include "data/batch.h"
#include "nn/models.h"
#include "optim/arena.h"

namespace heed {

struct StepGradient {
  double loss = 0;               // sum over targets
  int64_t rows_without_sum = 0;  // of attention weights: see sum_normalize()
};

// The number of threads that compute so many shards: a power of two.
int shard_threads(int64_t shards);

class Shards {
 public:
  // `model` has its trained parameters in `arena`; all arguments must outlive the shards.
  Shards(const Experiment& experiment, const ModelSizes& sizes, const LabelSmoothing& smoothing,
         Model& model, Arena& arena);
  ~Shards();

  // Computes the gradient of step number `step` into the arena. `batches` are the shards of its
  // micro-batches: batches[i · M + s] is shard s of micro-batch i. Throws Error if a loss is not
  // finite.
  StepGradient run(std::span<const Batch> batches, int64_t step);

 private:
  // What one thread computes with: an instance of the model, whose weights are those of `model`.
  class Instance;
  // A parameter of the model that other instances share.
  struct Shared {
    real* elements;
    bool trained;
  };

  // Adds the gradients of the instances: the upper levels of the tree.
  void add_instances(int threads);

  const Experiment& experiment_;
  const ModelSizes sizes_;
  const LabelSmoothing& smoothing_;
  Model& model_;
  Arena& arena_;
  std::vector<std::unique_ptr<Instance>> instances_;  // by thread; the first has `model` itself
  std::vector<double> losses_;                        // of each shard
};

}  // namespace heed
