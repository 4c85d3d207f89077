// Operations that the standard Transformer does without: other forms of attention, other losses,
// and what a program composes from tensors.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "core/standard_ops.h"

namespace heed::inline HEED_REAL {

// ---- ops/more_arithmetic.cpp: element by element, with broadcasting
Tensor sub(const Tensor& a, const Tensor& b);  // a - b
Tensor div(const Tensor& a, const Tensor& b);  // a / b
Tensor add(const Tensor& a, real b);           // a + b

inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
inline Tensor operator+(const Tensor& a, real b) { return add(a, b); }
inline Tensor operator+(real a, const Tensor& b) { return add(b, a); }
inline Tensor operator-(const Tensor& a, real b) { return add(a, -b); }
inline Tensor operator-(real a, const Tensor& b) { return sub(Tensor::scalar(a), b); }
inline Tensor operator*(const Tensor& a, real b) { return mul(a, b); }
inline Tensor operator*(real a, const Tensor& b) { return mul(b, a); }
inline Tensor operator/(const Tensor& a, real b) { return div(a, Tensor::scalar(b)); }
inline Tensor operator/(real a, const Tensor& b) { return div(Tensor::scalar(a), b); }

// ---- ops/elementwise.cpp: functions of one value
Tensor neg(const Tensor& x);  // -x
inline Tensor operator-(const Tensor& x) { return neg(x); }
Tensor exp(const Tensor& x);                 // eˣ
Tensor log(const Tensor& x);                 // ln x; -inf at 0, NaN below
Tensor sqrt(const Tensor& x);                // √x; NaN below 0
Tensor pow(const Tensor& x, real exponent);  // xᵉ; NaN for x < 0 and a fractional exponent e

// The activations of core/activation.h: relu(x), tanh(x), sigmoid(x), silu(x), gelu(x),
// gelu_tanh(x).
#define HEED_DEFINE(name) \
  inline Tensor name(const Tensor& x) { return activate(Activation::name, x); }
HEED_ACTIVATIONS(HEED_DEFINE)
#undef HEED_DEFINE

// ---- ops/reduce.cpp
// The sum over `axes`, or over all axes if the list is empty. The reduced axes are removed, or kept
// with length 1 if `keep` is true; those of the functions below, too.
Tensor sum(const Tensor& x, Axes axes = {}, bool keep = false);
Tensor mean(const Tensor& x, Axes axes = {}, bool keep = false);  // sum / number of elements
Tensor max(const Tensor& x, Axes axes = {}, bool keep = false);   // the maximum; ties share dx
Tensor min(const Tensor& x, Axes axes = {}, bool keep = false);   // the minimum; ties share dx
// Σ (x - mean(x))² / (n - correction), over n elements; correction = 1: the unbiased estimate.
// Throws Error unless n > correction.
Tensor var(const Tensor& x, Axes axes = {}, bool keep = false, int64_t correction = 1);
// log Σ eˣ, without overflow. Where all of x is -inf: -inf, with a zero gradient.
Tensor logsumexp(const Tensor& x, Axes axes = {}, bool keep = false);

// ---- ops/gather.cpp
// y[…, n, …] = x[…, ids[…, n, …], …], with the ids along `axis`. ids has the rank of x, and no axis
// but `axis` is longer than that of x. Each id is in [0, x.dim(axis)). → the shape of ids
Tensor gather(const Tensor& x, int axis, const Ids& ids);
// The result of topk().
struct TopK {
  Tensor values;  // sorted, the largest (or smallest) first; differentiable
  Ids ids;        // their indices along the axis
};
// The k largest (or smallest) elements along an axis, which has length k in the result. Of equal
// elements the first comes first. NaN counts as the largest. 0 ≤ k ≤ x.dim(axis).
TopK topk(const Tensor& x, int64_t k, int axis = -1, bool largest = true);

// ---- ops/join.cpp: along one axis
Tensor concat(std::span<const Tensor> parts,
              int axis);                                // joins along an axis; the others are equal
Tensor stack(std::span<const Tensor> parts, int axis);  // joins along a new axis
inline Tensor concat(std::initializer_list<Tensor> parts, int axis) {
  return concat(std::span(parts.begin(), parts.size()), axis);
}
inline Tensor stack(std::initializer_list<Tensor> parts, int axis) {
  return stack(std::span(parts.begin(), parts.size()), axis);
}
// The inverse of concat: parts with these lengths along the axis, which must add up to its length.
std::vector<Tensor> split(const Tensor& x, std::span<const int64_t> sizes, int axis);
inline std::vector<Tensor> split(const Tensor& x, std::initializer_list<int64_t> sizes, int axis) {
  return split(x, std::span(sizes.begin(), sizes.size()), axis);
}

// ---- ops/select.cpp: `condition` is true where it is not 0, and broadcasts like a tensor
// a where the condition is true, else b
Tensor where(const Ids& condition, const Tensor& a, const Tensor& b);
// `value` where the condition is true, else x
Tensor masked_fill(const Tensor& x, const Ids& condition, real value);

// ---- ops/attention.cpp
// Options of scaled_dot_product_attention().
struct AttentionOptions {
  std::optional<double> scale = {};  // of the scores; without it 1/√K
  KeepMask mask = {};                // the keys that each query may read
  double dropout = 0;                // of the weights, in training
  // Uses only the first `keys` rows of k and v, which then are a cache with free space at the end.
  // 0: all rows. Not differentiable.
  int64_t keys = 0;
};
// Scaled dot-product attention (Vaswani et al. 2017, equation 1) for all heads. A fast build does
// not store the (Tq, Tk) weights.
//   o[b, i, h, :] = Σⱼ softmaxⱼ(scale · q[b, i, h, :] · k[b, j, h, :]) v[b, j, h, :]
// q (B, Tq, H·K), k (B, Tk, H·K), v (B, Tk, H·V), head h in columns [h·K, (h+1)·K) → (B, Tq, H·V)
Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    int64_t heads, const AttentionOptions& options = {});

// Of scaled_dot_product_attention(), with two definitions: see core/ops/fused.h.
namespace fused {
// The same, of arguments that have been checked.
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, int64_t heads,
                 const AttentionOptions& options);
}

// ---- ops/log_softmax.cpp
// The logarithm of softmax(x). Where all of x is -inf: -inf, with a zero gradient.
Tensor log_softmax(const Tensor& x, int axis = -1);

// ---- ops/normalise.cpp
// Attention weights without a softmax, along the last axis
enum class HardmaxGradient {
  none,              // zero, which is the derivative wherever there is one
  straight_through,  // the gradient of the softmax (Bengio, Léonard & Courville 2013)
};
// The limit T → 0 of softmax(x / T): 1 at the maximum of a row, shared equally by ties, and 0
// elsewhere. A row in which all elements are -inf gives zeros.
Tensor hardmax(const Tensor& x, HardmaxGradient gradient = HardmaxGradient::none);
inline constexpr real min_row_sum = 1e-6;  // sum_normalize() divides by sums of larger size only
// x / Σ x, along the last axis, for sums of either sign. A row with |Σ x| ≤ min_row_sum gives zeros
// and a zero gradient.
Tensor sum_normalize(const Tensor& x);

// ---- ops/segment.cpp
// Entry e belongs to segment segments[e] of n, as an edge belongs to the node it enters.
// segments (E), each in [0, n); a segment may be empty. y = eˣ / Σ eˣ, each column over the entries
// of a segment, or zeros where x is -inf in all of them. x (E, …) → (E, …)
Tensor segment_softmax(const Tensor& x, const Ids& segments, int64_t n);
// y[s, …] = Σ x[e, …] over the entries e of segment s, in their order. x (E, …) → (n, …)
Tensor segment_sum(const Tensor& x, const Ids& segments, int64_t n);

// ---- ops/mse_loss.cpp
// (x - y)² of each element, reduced over all of them; no broadcasting. Throws Error for the mean of
// no elements.
Tensor mse_loss(const Tensor& x, const Tensor& y, Reduction reduction = Reduction::mean);

}  // namespace heed::inline HEED_REAL
