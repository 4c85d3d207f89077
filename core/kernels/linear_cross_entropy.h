// Cross entropy of a linear layer, without storing the logits of all rows and their gradient:
//
//   y = x wᵀ + b                                      x (N, I), w (V, I), b (V), y (N, V)
//   loss = -Σₙ Σᵥ p(n, v) log softmax(y)[n, v]
//   dy = softmax(y) - p,  dx = dy w,  dw = dyᵀ x,  db = Σₙ dy[n]       each times ∂/∂loss
//
// Two separate ops hold y and dy, twice the largest array of many a model. But dy is known as soon
// as a row of y is, so here it overwrites y, and backward only multiplies.
//
// Rows are processed in chunks of a limited number of logits. Forward keeps dy of the last chunk;
// backward computes those of the others again, in the same memory. One chunk, the usual case, takes
// three matrix products of 2 N V I FLOPs, as two separate ops do. Several chunks take four, and
// read w and write dw once a chunk, so chunks should be as large as memory permits. Computing the
// gradients in forward, as Liger Kernel does (Hsu et al. 2024, arXiv:2410.10989), would save the
// fourth product, but hold dw, V · I elements, until backward.
#pragma once

#include "core/kernels/kernels.h"
#include "core/kernels/linear.h"

namespace heed::inline HEED_REAL::kernels {

struct LinearCrossEntropy {
  int64_t rows, inputs, classes;  // N, I, V
  int32_t ignored;                // the target of rows that do not count
  TargetDistribution p;
  int64_t chunk_rows;  // chunk_rows_for()
};

// Returns how many of the rows one chunk takes: as many as `max_logits` permits, in chunks of about
// equal size.
int64_t chunk_rows_for(int64_t rows, int64_t classes, int64_t max_logits);

struct LinearCrossEntropyInputs {
  const real *x, *w, *b;   // b may be null
  const int32_t* targets;  // (N)
};

// Returns the loss. `dy` (chunk_rows, V) receives softmax(y) - p of the last chunk, `losses` (N)
// the loss of each row unless it is null.
double linear_cross_entropy_forward(const LinearCrossEntropy& n, const LinearCrossEntropyInputs& in,
                                    real* dy, real* losses);

// The gradient of the result: of a sum one number, of single losses one per row, (N).
struct LossGradient {
  real of_sum;
  const real* of_rows = nullptr;  // null: of_sum applies
};
// Computes the gradients, each times `d_loss`. `dy` is what forward left there, and is overwritten.
// With one chunk x is read only for dw, and w only for dx; otherwise they may be null.
void linear_cross_entropy_backward(const LinearCrossEntropy& n, const LinearCrossEntropyInputs& in,
                                   LossGradient d_loss, real* dy, const LinearGradients& to);

}  // namespace heed::inline HEED_REAL::kernels
