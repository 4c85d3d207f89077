// Every differentiable operation. nn calls only these.
//
// Each is one function in ops/<family>.cpp that checks its inputs, computes the result and records
// its backward. All throw Error with the operation, the violated condition and the shapes. Binary
// operations broadcast like NumPy. Negative axes count from the end.
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "core/activation.h"
#include "core/ids.h"
#include "core/mask.h"
#include "core/tensor.h"

namespace heed::inline HEED_REAL {

using Axes = std::initializer_list<int>;

// ---- ops/arithmetic.cpp: element by element, with broadcasting
Tensor add(const Tensor& a, const Tensor& b);
Tensor sub(const Tensor& a, const Tensor& b);
Tensor mul(const Tensor& a, const Tensor& b);
Tensor div(const Tensor& a, const Tensor& b);
Tensor add(const Tensor& a, real b);
Tensor mul(const Tensor& a, real b);

inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
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
Tensor neg(const Tensor& x);
inline Tensor operator-(const Tensor& x) { return neg(x); }
Tensor exp(const Tensor& x);
Tensor log(const Tensor& x);   // natural; -inf at 0, NaN below
Tensor sqrt(const Tensor& x);  // NaN below 0
Tensor pow(const Tensor& x, real exponent);

// The activations of core/activation.h: relu(x), tanh(x), sigmoid(x), silu(x), gelu(x),
// gelu_tanh(x).
#define HEED_DECLARE(name, ...) Tensor name(const Tensor& x);
HEED_ACTIVATIONS(HEED_DECLARE, HEED_DECLARE)
#undef HEED_DECLARE
// The activation named by a value; Activation::none returns x itself.
Tensor activate(Activation function, const Tensor& x);

// ---- ops/reduce.cpp: over `axes`, or over all axes if the list is empty. The reduced axes are
// removed, or kept with length 1 if `keep` is true.
Tensor sum(const Tensor& x, Axes axes = {}, bool keep = false);
Tensor mean(const Tensor& x, Axes axes = {}, bool keep = false);
// Equal maxima (or minima) share the gradient equally.
Tensor max(const Tensor& x, Axes axes = {}, bool keep = false);
Tensor min(const Tensor& x, Axes axes = {}, bool keep = false);
// Σ (x - mean(x))² / (n - correction), over n elements; correction = 1: the unbiased estimate.
// Throws Error unless n > correction.
Tensor var(const Tensor& x, Axes axes = {}, bool keep = false, int64_t correction = 1);
// log Σ eˣ, without overflow. Where all of x is -inf: -inf, with a zero gradient.
Tensor logsumexp(const Tensor& x, Axes axes = {}, bool keep = false);

// ---- ops/gather.cpp
// y[…, n, …] = x[…, ids[…, n, …], …], with the ids along `axis`. ids has the rank of x, and no axis
// but `axis` is longer than that of x. Each id is in [0, x.dim(axis)). → the shape of ids
Tensor gather(const Tensor& x, int axis, const Ids& ids);
struct TopK {
  Tensor values;  // sorted, the largest (or smallest) first; differentiable
  Ids ids;        // their indices along the axis
};
// The k largest (or smallest) elements along an axis, which has length k in the result. Of equal
// elements the first comes first. NaN counts as the largest. 0 ≤ k ≤ x.dim(axis).
TopK topk(const Tensor& x, int64_t k, int axis = -1, bool largest = true);

// ---- ops/linear.cpp
// y[…, o] = Σᵢ x[…, i] w[o, i] + b[o];   x (…, I), w (O, I), b (O) or no tensor → (…, O)
Tensor linear(const Tensor& x, const Tensor& w, const Tensor& b = {});
// φ(linear(x, w, b)), with the activation φ applied while the product is in the cache.
Tensor linear(const Tensor& x, const Tensor& w, const Tensor& b, Activation activation);
// c[…, m, n] = Σₖ a[…, m, k] b[…, k, n]; the axes before the last two broadcast. Rank ≥ 2.
Tensor matmul(const Tensor& a, const Tensor& b);

// ---- ops/shape.cpp: the same elements in another order (Tensor::reshape is free; these copy)
Tensor permute(const Tensor& x, Axes axes);  // axis i of the result is axis axes[i] of x
Tensor transpose(const Tensor& x, int axis, int other);
Tensor slice(const Tensor& x, int axis, int64_t first, int64_t last);  // [first, last) of an axis
Tensor concat(std::span<const Tensor> parts, int axis);
Tensor stack(std::span<const Tensor> parts, int axis);  // along a new axis
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
// `value`, with a zero gradient, where the mask hides a key from a query. scores (B, H, Tq, Tk)
Tensor masked_fill(const Tensor& scores, const KeepMask& mask, real value);

// ---- ops/softmax.cpp
// exp(x) / Σ exp(x) along an axis. Where all of x is -inf the result is 0 (its logarithm -inf) with
// a zero gradient, not NaN.
Tensor softmax(const Tensor& x, int axis = -1);
Tensor log_softmax(const Tensor& x, int axis = -1);

// Attention weights without a softmax, along the last axis
enum class HardmaxGradient {
  none,              // zero, which is the derivative wherever there is one
  straight_through,  // the gradient of the softmax (Bengio, Léonard & Courville 2013)
};
// The limit T → 0 of softmax(x / T): 1 at the maximum of a row, shared equally by ties, and 0
// elsewhere. A row in which all elements are -inf gives zeros.
Tensor hardmax(const Tensor& x, HardmaxGradient gradient = HardmaxGradient::none);
// x / Σ x. A row whose sum is ≤ min_row_sum gives zeros and a zero gradient, and is counted
// (core/rows_without_sum.h).
inline constexpr real min_row_sum = 1e-6;
Tensor sum_normalize(const Tensor& x);

// ---- ops/rotary.cpp
enum class RotaryLayout {
  interleaved,  // columns 2k and 2k + 1 are a pair (Su et al. 2021)
  halves,       // columns k and k + K/2 are
};
struct RotaryOptions {
  RotaryLayout layout = RotaryLayout::interleaved;
  double base = 10000;
  int64_t first_position = 0;  // of x[:, 0, :]
};
// Rotates pair k of every head at position t by the angle t · base^(-2k/K), so that the dot product
// of a query and a key depends on their distance (Su et al. 2021, "RoFormer", equations 14 to 16).
// x (B, T, H·K), K even → (B, T, H·K)
Tensor rotary(const Tensor& x, int64_t heads, const RotaryOptions& options = {});

// ---- ops/segment.cpp: entry e belongs to segment segments[e] of n, as an edge belongs to the node
// it enters. segments (E), each in [0, n); a segment may be empty.
// y = eˣ / Σ eˣ, each column over the entries of a segment, or zeros where x is -inf in all of
// them. x (E, …) → (E, …)
Tensor segment_softmax(const Tensor& x, const Ids& segments, int64_t n);
// y[s, …] = Σ x[e, …] over the entries e of segment s, in their order. x (E, …) → (n, …)
Tensor segment_sum(const Tensor& x, const Ids& segments, int64_t n);

// ---- ops/embedding.cpp
// y[…, :] = weight[ids[…], :];   weight (V, D), ids (…) each in [0, V) → (…, D)
Tensor embedding(const Tensor& weight, const Ids& ids);

// ---- ops/norm.cpp: over the last axis, of length D; weight and bias (D), or empty
// (x - mean) / √(variance + epsilon) · weight + bias (Ba, Kiros & Hinton 2016)
Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, real epsilon);
// x / √(mean(x²) + epsilon) · weight (Zhang & Sennrich 2019)
Tensor rms_norm(const Tensor& x, const Tensor& weight, real epsilon);

// ---- ops/dropout.cpp
// In training (Scope::training): 0 with this probability, else x / (1 - probability). Otherwise x
// itself. The mask comes from the scope's next random stream; backward draws it again.
Tensor dropout(const Tensor& x, double probability);

// ---- ops/loss.cpp
// What a loss returns, as in PyTorch.
enum class Reduction {
  mean,  // the mean over the targets that count, or over all elements
  sum,
  none,  // one loss per target, or per element
};
inline constexpr int32_t ignored = -1;  // a target that is left out of the loss
// How a part ε of the target's probability is given to the other of V classes. The idea is from
// Szegedy et al. (2016), section 7; implementations differ in the details.
enum class Smoothing {
  vocabulary,       // p(target) = 1 - ε + ε/V, every other class ε/V: the paper and PyTorch
  others,           // p(target) = 1 - ε, every other class ε/(V-1): tensor2tensor and fairseq
  possible_others,  // p(target) = 1 - ε, every other class ε/(V-2), but 0 for one class that is
                    // never a target (padding): The Annotated Transformer
};
struct LabelSmoothing {
  double epsilon;
  Smoothing over;
  int32_t impossible;  // the class that is never a target, for possible_others

  LabelSmoothing(double epsilon_ = 0, Smoothing over_ = Smoothing::vocabulary,
                 int32_t impossible_ = -1)
      : epsilon(epsilon_), over(over_), impossible(impossible_) {}
};
// The loss of target n is -Σᵥ p(n, v) log softmax(logits)[n, v]. logits (…, V), targets (…) each in
// [0, V) or `ignored` → a scalar; Reduction::none: (…), where ignored targets have the loss 0. The
// mean is over the targets that are not ignored; if all are, it is 0.
// A row in which all logits are -inf has the loss inf, for any target, and a zero gradient.
Tensor cross_entropy(const Tensor& logits, const Ids& targets,
                     Reduction reduction = Reduction::mean, const LabelSmoothing& smoothing = {});
// cross_entropy(linear(x, w, b), targets, reduction, smoothing). x (…, I), w (V, I), b (V) or
// empty, targets (…). Never stores the gradient of the logits. If there are more than `at_once`
// logits, never stores all logits either: their rows are computed in chunks, and once more in
// backward.
inline constexpr int64_t logits_at_once = int64_t{1} << 24;  // 64 MiB
Tensor linear_cross_entropy(const Tensor& x, const Tensor& w, const Tensor& b, const Ids& targets,
                            Reduction reduction = Reduction::mean,
                            const LabelSmoothing& smoothing = {}, int64_t at_once = logits_at_once);
// (x - y)² of each element, reduced over all of them; no broadcasting. Throws Error for the mean of
// no elements.
Tensor mse_loss(const Tensor& x, const Tensor& y, Reduction reduction = Reduction::mean);

// ---- ops/attention.cpp
struct AttentionOptions {
  double scale = 0;  // of the scores; 0: 1/√K
  KeepMask mask = {};
  double dropout = 0;  // of the weights, in training
  // Uses only the first `keys` rows of k and v, which then are a cache with free space at the end.
  // 0: all rows. Not differentiable.
  int64_t keys = 0;
};
// Scaled dot-product attention (Vaswani et al. 2017, equation 1) for all heads, without storing the
// (Tq, Tk) weights:
//   o[b, i, h, :] = Σⱼ softmaxⱼ(scale · q[b, i, h, :] · k[b, j, h, :]) v[b, j, h, :]
// q (B, Tq, H·K), k (B, Tk, H·K), v (B, Tk, H·Kv), head h in columns [h·K, (h+1)·K) → (B, Tq, H·Kv)
Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    int64_t heads, const AttentionOptions& options = {});

}  // namespace heed::inline HEED_REAL
