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
// The results of the threads are then added in the upper levels. R ranks (core/ranks.h) do the same
// above the threads: each computes M / R neighbours, and optim/rank_slices.h adds those of all. So
// the bits depend on M, and neither on the number of threads nor on that of ranks. With one shard
// the gradient is that of the whole micro-batch, and the loops inside the operations have all
// threads.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "apps/config/experiment.h"
#include "core/check.h"
#include "core/observer.h"
#include "data/batch.h"
#include "nn/models.h"
#include "optim/arena.h"

namespace heed {

// The loss or the gradient of a step is infinite or NaN.
class Diverged : public Error {
  using Error::Error;
};
// Throws Diverged, which names the value, unless it is finite.
void check_finite(const char* name, double value);

// What a step was computed from, summed over all ranks.
struct StepGradient {
  double loss = 0;      // sum over targets
  int64_t targets = 0;  // without padding
  int64_t tokens = 0;   // inputs without padding
};

// The shards of this process, out of train.shards.
struct OwnShards {
  int64_t first = 0, count = 0;
  bool are_all = true;                 // no other process computes some
  explicit OwnShards(int64_t shards);  // throws as check_shared() does
};
// Throws InputError if the number of ranks does not divide that of shards.
void check_shared(int64_t shards);

// Returns one of so many shards of a batch: consecutive examples. Throws Error unless there are as
// many examples as shards.
std::span<const Example* const> shard_of(std::span<const Example* const> batch, int64_t index,
                                         int64_t shards);

// The number of threads that compute so many shards: a power of two.
int shard_threads(int64_t shards);

class Shards {
 public:
  // `model` has its trained parameters in `arena`; all arguments must outlive the shards.
  Shards(const Experiment& experiment, const ModelSizes& sizes, const LabelSmoothing& smoothing,
         Model& model, Arena& arena);
  ~Shards();

  // Computes the gradient of step number `step` into the arena: with ranks, the part of the own
  // shards in it. `batches` are those shards of its micro-batches: of L own shards, batches[i · L +
  // s] is number s of micro-batch i. Throws Error if the loss of a shard, of any rank, is not
  // finite.
  StepGradient run(std::span<const Batch> batches, int64_t step);
  // Lets `observer` see the operations of every thread, which call it at once.
  void observe(Observer& observer) { observer_ = &observer; }

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
  // Returns what the batches of all ranks came to.
  StepGradient summary(std::span<const Batch> batches);

  const Experiment& experiment_;
  const ModelSizes sizes_;
  const LabelSmoothing& smoothing_;
  Model& model_;
  Arena& arena_;
  std::vector<std::unique_ptr<Instance>> instances_;  // by thread; the first has `model` itself
  const OwnShards own_;
  Observer* observer_ = nullptr;  // may be none
  std::vector<double> losses_;    // of each own shard
};

}  // namespace heed
