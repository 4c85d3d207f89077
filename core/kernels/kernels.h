// The loops that the operations of the standard Transformer call, file by file. A Destination says
// whether a loop adds to what is there. (gemm/gemm.h has the matrix products.)
//
// Fast kernels run on all threads unless they say otherwise. Gradients whose `data` is null are not
// computed.
#pragma once

#include <cstdint>
#include <span>

#include "core/mask.h"
#include "core/random.h"
#include "core/real.h"
#include "core/shape.h"

namespace heed::inline HEED_REAL::kernels {

// ---- arithmetic.cpp
// A contiguous array whose shape broadcasts to another.
template <class T>
struct Operand {
  const T* data;
  Shape shape;
};
// to = a + b and to = a · b, with a and b broadcast to the shape `whole`
void add(const Shape& whole, const Operand<real>& a, const Operand<real>& b, Destination to);
void multiply(const Shape& whole, const Operand<real>& a, const Operand<real>& b, Destination to);
// to[i] = factor · x[i], i < n
void scale(int64_t n, const real* x, real factor, Destination to);

// ---- copy.cpp
// to[i] = value, i < n
void fill(int64_t n, real value, real* to);
// to[i] = from[i], i < n
void copy(int64_t n, const real* from, Destination to);
// Permutes the axes of `from`, of shape `shape`: axis i of the result is axis axes[i].
void permute(const real* from, const Shape& shape, std::span<const int> axes, Destination to);
// Copies `rows` rows of `width` elements. A row begins from_step elements after the one before in
// `from`, and to_step in `to`.
void copy_rows(int64_t rows, int64_t width, const real* from, int64_t from_step, Destination to,
               int64_t to_step);
// Fills `rows` rows of `width` elements with zeros. A row begins `step` elements after the one
// before.
void zero_rows(int64_t rows, int64_t width, real* to, int64_t step);
// to[n, :] = table[ids[n], :], n < count; table (…, width)
void gather_rows(int64_t count, int64_t width, const int32_t* ids, const real* table,
                 Destination to);
// to[ids[n], :] += dy[n, :], n < count; to (rows, width) is first filled with zeros unless it
// accumulates. The gradients of one row are added in the order of n.
void scatter_rows(int64_t count, int64_t width, const int32_t* ids, const real* dy, int64_t rows,
                  Destination to);
// to = x if the mask lets the query attend to the key, else `hidden`; x (B, H, Tq, Tk)
void fill_hidden(const Shape& shape, const KeepMask& mask, const real* x, real hidden,
                 Destination to);

// ---- reduce.cpp
// Sums `from`, of shape `shape`, along the axes in which `target` broadcasts to `shape`. The
// order of summation depends only on the shapes.
void sum_to(const real* from, const Shape& shape, const Shape& target, Destination to);

// ---- softmax.cpp, of each row of x, y (rows, width)
struct Rows {
  int64_t rows, width;
};
//
//   softmax(x)[i] = exp(x[i] - m) / Σⱼ exp(x[j] - m),   m = max x, so that nothing overflows
//
// If all x[i] are -inf, softmax and its gradient are 0.
void softmax_forward(const Rows& sizes, const real* x, real* y);
void softmax_backward(const Rows& sizes, const real* dy, const real* y, Destination dx);

// ---- norm.cpp: layer norm (Ba, Kiros & Hinton 2016) and RMS norm (Zhang & Sennrich 2019) of rows
//
//   layer   y = x̂ · weight + bias,  x̂ = (x - mean) · scale,  scale = 1 / √(variance + epsilon)
//   RMS     y = x̂ · weight,         x̂ = x · scale,           scale = 1 / √(mean(x²) + epsilon)
//
// x, y (rows, width); weight, bias (width); mean, scale (rows), which backward needs. RMS norm has
// no bias and no mean: they are null. Backward, with h = dy · weight (RMS norm leaves out mean(h)):
//
//   dx = scale (h - mean(h) - x̂ mean(h x̂)),   dweight = Σₙ dy · x̂,   dbias = Σₙ dy
void norm_forward(const Rows& sizes, real epsilon, const real* x, const real* weight,
                  const real* bias, real* y, real* mean, real* scale);
// For dbias only `dy` is read; the others may be null then.
struct NormBackwardInputs {
  const real *dy, *x, *weight, *mean, *scale;
};
struct NormGradients {
  Destination dx, dweight, dbias;
};
void norm_backward(const Rows& sizes, const NormBackwardInputs& in, const NormGradients& to);

// ---- rotary.cpp: x (batch, time, heads · width). Pair k of a head is its columns 2k and 2k + 1
// if `interleaved`, else k and k + width / 2.
struct RotarySizes {
  int64_t batch, time, heads, width;
  bool interleaved;
};
// Computes cosines and sines (time, width / 2) of (first + t) base^(-2k / width), for pair k at
// position t.
void rotary_angles(const RotarySizes& n, double base, int64_t first, real* cosine, real* sine);
// (a, b) → (a cos - b sin, a sin + b cos) for each pair. `direction` is the sign of the angle: 1,
// or -1 for the gradient.
void rotate(const RotarySizes& n, real direction, const real* cosine, const real* sine,
            const real* x, Destination to);

// ---- dropout.cpp (Srivastava et al. 2014). The mask is a function of a random stream, so backward
// draws it again instead of storing it.
// Drops an element if its random word is below the threshold, and multiplies it by `scale` if not.
struct DropoutRule {
  uint32_t threshold;
  real scale;
  explicit DropoutRule(double probability)
      : threshold(static_cast<uint32_t>(probability * 0x1p32)),
        scale(static_cast<real>(1 / (1 - probability))) {}
};
// to[i] = 0 if word i of the stream, as a fraction of 2^32, is below `probability`, else
// x[i] / (1 - probability), i < n. Backward is the same function of dy.
void dropout(int64_t n, const StreamKey& stream, double probability, const real* x, Destination to);

// ---- loss.cpp
struct CrossEntropySizes {
  int64_t rows, classes;
  int32_t ignored;  // the target of rows that do not count
};
// The target distribution p(n, v) of a row with label smoothing.
struct TargetDistribution {
  double target, other;  // p of the row's target, and of every other class
  int32_t never;         // the class with p = 0; -1: none
};
// Returns -Σₙ Σᵥ p(n, v) log softmax(logits)[n, v] over the rows whose target is not `ignored`.
// logits (rows, classes), targets (rows). `gradient`, shaped like the logits, receives
// softmax(logits) - p, and 0 in ignored rows; it may be the logits themselves, which it then
// overwrites, or null. `losses` (rows) receives the term of each row, 0 in ignored ones, unless it
// is null.
double cross_entropy(const CrossEntropySizes& n, const TargetDistribution& p, const real* logits,
                     const int32_t* targets, real* gradient, real* losses = nullptr);
// to[n, :] = factors[n] x[n, :]; x (rows, width), which may be `to`, factors (rows)
void scale_rows(const Rows& sizes, const real* factors, const real* x, Destination to);

}  // namespace heed::inline HEED_REAL::kernels
