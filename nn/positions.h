// Attention does not know the order of its inputs; these vectors tell it. The vector p(t) is added
// to that of the token at position t (Vaswani et al. 2017, section 3.5), or attention itself uses
// the positions. A form of it is a rule: here those of the Transformer, others in
// nn/forms/positional.h.
#pragma once

#include <memory>
#include <span>

#include "core/lazy.h"
#include "core/standard_ops.h"
#include "nn/module.h"

namespace heed::inline HEED_REAL {

class ScoreBias;  // nn/forms/score_bias.h
struct PositionalOptions;

// A form of positional encoding.
struct PositionalRule {
  const char* name = "";  // the word in a config
  // p(t) is row t of a table: computed, (length, dim) for the positions 0 … length - 1, or learned.
  Tensor (*table)(int64_t length, int64_t dim, const PositionalOptions& options) = nullptr;
  bool is_learned = false;            // the table is a parameter
  bool is_limited = false;            // p(t) exists for t < max_length only
  int64_t columns_per_frequency = 1;  // the columns of p for one axis must be a multiple of it
  bool scales_embedding = false;      // model.scale_embedding = "auto" means yes
  // It acts in attention: by rotating queries or keys x (B, T, H·K) that start at position `first`,
  Tensor (*rotate)(const Tensor& x, int64_t heads, int64_t first,
                   const PositionalOptions& options) = nullptr;
  // or by a bias that is added to the scores.
  std::unique_ptr<ScoreBias> (*score_bias)(int64_t heads, bool causal,
                                           const PositionalOptions& options) = nullptr;
  // Throws InputError, naming the key, for options that contradict themselves; null: nothing can.
  void (*validate)(const PositionalOptions& options) = nullptr;

  bool is_vector() const { return table || is_learned; }           // p exists
  bool acts_in_attention() const { return rotate || score_bias; }  // with `rotate` or `score_bias`
};
namespace positional_encodings {
extern const PositionalRule none, learned, rotary;  // rotary acts in attention
// p(t) = [sin ω₀t, cos ω₀t, sin ω₁t, cos ω₁t, …],  ωₖ = 10000^(-2k/D). The product p(s)·p(t) =
// Σₖ cos ωₖ(s - t) depends on the distance only. An odd width ends with a sine without its cosine.
extern const PositionalRule sinusoidal;
}  // namespace positional_encodings

enum class PositionalCombine;  // nn/forms/positional.h

// The section [model.positional].
struct PositionalOptions {
  const PositionalRule* kind = &positional_encodings::sinusoidal;
  int64_t max_length = 512;                         // learned, gaussian: positions in the table
  RotaryLayout layout = RotaryLayout::interleaved;  // sinusoidal, rotary
  int64_t first_k = 0;                              // sinusoidal: the first k
  double base = 10000;                              // sinusoidal, rotary: instead of 10000
  PositionalCombine combine = {};                   // at first the sum
  int64_t dim = 0;                                  // width of p if it is concatenated, otherwise 0
  double lambda = 0.02;                             // gaussian: λ
  int64_t terms = 0;                                // gaussian: of the series; 0: all that fit
  int64_t buckets = 32;                             // relative
  int64_t max_distance = 128;                       // relative

  void fields(Fields& f);  // visits each, for a config
  // Throws InputError for values out of range and, naming the key, for options that contradict
  // themselves or a model of this width.
  void validate(int64_t model_dim) const;
};

// Adds p(t) to the vector of the token at position t, or returns it as it is: see PositionalRule.
class Positions : public Module {
 public:
  // For a model of width `dim`. Learned positions start as N(0, std²). Throws InputError for values
  // out of range, and for positions to concatenate.
  explicit Positions(int64_t dim, const PositionalOptions& options = {}, double std = 0.02);
  // x (B, T, D) at the positions first … first + T - 1, or `at` (B, T), → (B, T, D). Throws Error
  // if the last exceeds max_length of learned or gaussian positions.
  virtual Tensor operator()(const Tensor& x, int64_t first = 0, const Ids& at = {}) const;

  Part<Tensor> weight;  // learned: (max_length, D); or no tensor

 protected:
  Positions(const PositionalOptions& options, int64_t width, const Tensor& learned);
  virtual Tensor rows(int64_t first, int64_t last) const;  // p(first) … p(last - 1): (T, width)

  PositionalOptions options_;
  int64_t width_;       // of p
  Lazy<Tensor> table_;  // computed: as many rows as were needed so far
};

// Returns positions in the form that the options choose. `grid`: the lengths of its axes, if they
// form one. Throws InputError for options that contradict each other or the widths.
std::unique_ptr<Positions> make_positions(int64_t dim, const PositionalOptions& options,
                                          double std = 0.02, std::span<const int64_t> grid = {});

}  // namespace heed::inline HEED_REAL
