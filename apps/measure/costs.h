// What a step of training costs in operations and in memory, by formula: nothing is run.
//
// Letters: B examples of a micro-batch, A micro-batches of a step, T inputs and Ts source symbols
// of the longest example, D width, H heads, F hidden width of the feed-forward, V vocabulary.
#pragma once

#include <string>
#include <string_view>

#include "apps/config/experiment.h"

namespace heed {

// What a step is counted for: full batches of sequences of the greatest length that the data has.
// Where lengths vary this is an upper bound.
struct StepSizes {
  int64_t batch = 0;              // B
  int64_t micro_batches = 1;      // A
  int64_t source = 0, input = 0;  // Ts, T
  int64_t evaluation_batch = 0;
};
StepSizes step_sizes(const Experiment& experiment, const Corpus& corpus);

// Operations on numbers in products of matrices, a multiplication and the addition that goes with
// it counted as two. All else (norms, activations, softmax, embeddings, the optimizer) is left out,
// as is usual: it is a few operations a number where a product has D or more.
struct Flops {
  double forward = 0, backward = 0;

  double total() const { return forward + backward; }
  Flops& operator+=(const Flops& other);
};

// y = x wᵀ for so many rows of x: 2 · rows · size of w. Backward has two products of that size,
// dx = dy w and dw = dyᵀ x; the second is not made where w is frozen.
Flops linear_flops(double rows, double weight_size, bool trains);
// Attention, with heads whose keys are K wide together and whose values V: Q Kᵀ is 2 · Tq · Tk · K
// and P V 2 · Tq · Tk · V. Backward makes five such products: Q Kᵀ once more, for the fused kernel
// does not keep the weights P, and those for dP, dQ, dK, dV. A causal mask saves up to half of it.
Flops attention_flops(double examples, double queries, double keys, double key_width,
                      double value_width);

// In bytes, as asked for: the pool's blocks may be larger (core/pool.h).
struct Memory {
  double parameters = 0;
  double gradients = 0;
  double optimizer = 0;    // its state
  double batches = 0;      // token ids
  double activations = 0;  // what a micro-batch keeps for backward
  double backward = 0;     // gradients of activations, when there are most of them
  double evaluation = 0;   // activations of a batch of an evaluation, which keeps nothing

  // What lasts as long as the training; or, if that is more, what is there while the optimizer
  // copies what it trains, before it has any state.
  double lasting() const;
  // The most there is at once.
  double peak() const;
};
// Of a model with so many numbers, of which so many train.
Memory memory_of(const Experiment& experiment, const ModelSizes& sizes, const StepSizes& step,
                 int64_t parameters, int64_t trained);

}  // namespace heed
