// The differentiable operations of the standard Transformer, with their formulas and shapes.
//
// Each is one function in ops/<family>.cpp that checks its inputs, computes the result and records
// its backward. All throw Error with the operation, the violated condition and the shapes. Binary
// operations broadcast like NumPy. Negative axes count from the end. The letters:
//
//   B        examples in a batch
//   T        positions in a sequence; Ts of a source, Tq of queries, Tk of keys
//   D        width of the model: of the vector of one position; De of the encoder, Dm of the memory
//   H        heads
//   K, V     width of one head's queries and keys, and of its values
//   I, O     inputs and outputs of a linear layer
//   vocab    tokens in the vocabulary, or classes
//   n        a row: an index of all axes but the last, as one
//   …        any axes
#pragma once

#include <initializer_list>

#include "core/activation.h"
#include "core/ids.h"
#include "core/mask.h"
#include "core/tensor.h"

namespace heed::inline HEED_REAL {

using Axes = std::initializer_list<int>;  // negative ones count from the end

// ---- ops/arithmetic.cpp: element by element, with broadcasting
Tensor add(const Tensor& a, const Tensor& b);  // a + b
Tensor mul(const Tensor& a, const Tensor& b);  // a ∘ b, the product of elements
Tensor mul(const Tensor& a, real b);

inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }

// ---- ops/linear.cpp
// y[…, o] = Σᵢ x[…, i] w[o, i] + b[o];   x (…, I), w (O, I), b (O) or no tensor → (…, O)
Tensor linear(const Tensor& x, const Tensor& w, const Tensor& b = {});
// φ(linear(x, w, b)). A fast build applies the activation φ while the product is in the cache.
Tensor linear(const Tensor& x, const Tensor& w, const Tensor& b, Activation activation);
// φ(x), element by element; Activation::none returns x itself.
Tensor activate(Activation function, const Tensor& x);
// c[…, m, n] = Σₖ a[…, m, k] b[…, k, n]; the axes before the last two broadcast. Rank ≥ 2.
Tensor matmul(const Tensor& a, const Tensor& b);

// ---- ops/shape.cpp: the same elements in another order (Tensor::reshape is free; these copy)
Tensor permute(const Tensor& x, std::span<const int> axes);  // axis i of y is axis axes[i] of x
inline Tensor permute(const Tensor& x, Axes a) { return permute(x, {a.begin(), a.size()}); }
Tensor transpose(const Tensor& x, int axis, int other);                // exchanges two axes
Tensor slice(const Tensor& x, int axis, int64_t first, int64_t last);  // [first, last) of an axis
Tensor split_heads(const Tensor& x, int64_t heads);  // (B, T, H·K) → (B, H, T, K)
Tensor merge_heads(const Tensor& x);                 // (B, H, T, K) → (B, T, H·K)

// ---- ops/masked_fill.cpp
// scores (B, H, Tq, Tk), but `value`, with a zero gradient, where the mask hides a key from a query
Tensor masked_fill(const Tensor& scores, const KeepMask& mask, real value);

// ---- ops/softmax.cpp
// exp(x) / Σ exp(x) along an axis. Where all of x is -inf the result is 0 with a zero gradient, not
// NaN.
Tensor softmax(const Tensor& x, int axis = -1);

// ---- ops/rotary.cpp
// Which columns of a head rotate as a pair.
enum class RotaryLayout {
  interleaved,  // columns 2k and 2k + 1 are a pair (Su et al. 2021)
  halves,       // columns k and k + K/2 are
};
// Options of rotary().
struct RotaryOptions {
  RotaryLayout layout = RotaryLayout::interleaved;  // as in the paper
  double base = 10000;                              // pairs turn by 1 to 1/base per position
  int64_t first_position = 0;                       // of x[:, 0, :]
};
// Rotates pair k of every head at position t by the angle t · base^(-2k/K), so that the dot product
// of a query and a key depends on their distance (Su et al. 2021, "RoFormer", equations 14 to 16).
// x (B, T, H·K), K even → (B, T, H·K)
Tensor rotary(const Tensor& x, int64_t heads, const RotaryOptions& options = {});

// ---- ops/embedding.cpp
// y[…, :] = weight[ids[…], :];   weight (vocab, D), ids (…) each in [0, vocab) → (…, D)
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
// How a loss combines the losses of all targets. The names are PyTorch's.
enum class Reduction {
  mean,  // the mean over the targets that count, or over all elements
  sum,
  none,  // one loss per target, or per element
};
inline constexpr int32_t ignored = -1;  // a target that is left out of the loss
// How a part ε of the target's probability is given to other classes. The idea is from
// Szegedy et al. (2016), section 7; implementations differ in the details.
enum class Smoothing {
  vocabulary,  // p(target) = 1 - ε + ε/vocab, every other class ε/vocab: the paper and PyTorch
  others,      // p(target) = 1 - ε, every other class ε/(vocab-1): tensor2tensor and fairseq
  possible_others,  // p(target) = 1 - ε, every other class ε/(vocab-2), but 0 for one class that is
                    // never a target (padding): The Annotated Transformer
};
// A part of the target's probability, given away: options of the losses below.
struct LabelSmoothing {
  double epsilon;      // ε; 0: none
  Smoothing over;      // which classes share it
  int32_t impossible;  // the class that is never a target, for possible_others

  LabelSmoothing(double epsilon_ = 0, Smoothing over_ = Smoothing::vocabulary,
                 int32_t impossible_ = -1)
      : epsilon(epsilon_), over(over_), impossible(impossible_) {}
};
// L[n] = -Σᵥ p(n, v) log softmax(logits)[n, v], the loss of target n. logits (…, vocab), targets
// (…), each in [0, vocab) or `ignored` → a scalar; Reduction::none: (…), where ignored targets have
// the loss 0. The mean is over the targets that are not ignored; if all are, it is 0. A row in
// which all logits are -inf has the loss inf, for any target, and a zero gradient.
Tensor cross_entropy(const Tensor& logits, const Ids& targets,
                     Reduction reduction = Reduction::mean, const LabelSmoothing& smoothing = {});
inline constexpr int64_t logits_at_once = int64_t{1} << 24;  // 64 MiB
// cross_entropy(linear(x, w, b), targets, reduction, smoothing). x (…, I), w (vocab, I), b (vocab)
// or empty, targets (…). A fast build never stores the gradient of the logits. If there are more
// than `at_once` logits, it never stores all logits either: their rows are computed in chunks, and
// once more in backward.
Tensor linear_cross_entropy(const Tensor& x, const Tensor& w, const Tensor& b, const Ids& targets,
                            Reduction reduction = Reduction::mean,
                            const LabelSmoothing& smoothing = {}, int64_t at_once = logits_at_once);

}  // namespace heed::inline HEED_REAL
