// Positional encodings: how a model knows the position of a token. A form is a rule, in
// nn/positional.cpp or a file of its own, and a line of HEED_POSITIONAL_ENCODINGS.
//
//   sinusoidal, learned, integer   a vector φ(t) for each position t, added to the token's (Vaswani
//                                  et al. 2017, section 3.5) or concatenated with it, [x; φ(t)]
//   rotary                         attention rotates queries and keys (Su et al. 2021)
//   alibi, relative                attention adds a bias to the scores (Press et al. 2022;
//                                  Raffel et al. 2020, section 2.1): nn/score_bias.h
//
// On a grid, a position has a coordinate on each axis. The columns of φ are divided equally among
// the axes, and each part is the φ of one coordinate:
//
//   φ(r, c) = [φ(r); φ(c)],  each half as wide as φ
//
// (Wang & Liu 2019 for sinusoids, where the exponent 4k/D is our 2k/(D/2); Dosovitskiy et al. 2021,
// appendix D.4, for learned positions).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/fields.h"
#include "core/lazy.h"
#include "core/ops.h"
#include "core/registry.h"
#include "nn/module.h"
#include "nn/positions.h"

namespace heed::inline HEED_REAL {

class ScoreBias;
struct PositionalOptions;

// A form of positional encoding.
struct PositionalRule {
  const char* name = "";  // the word in a config
  // φ is a vector: computed by `table`, (length, dim) for the positions 0 … length - 1, or learned.
  Tensor (*table)(int64_t length, int64_t dim, const PositionalOptions& options) = nullptr;
  bool is_learned = false;            // φ is a table of parameters
  int64_t columns_per_frequency = 1;  // the columns of φ for one axis must be a multiple of it
  bool scales_embedding = false;      // model.scale_embedding = "auto" means yes
  // It acts in attention: by rotating queries or keys x (B, T, H·K) that start at position `first`,
  Tensor (*rotate)(const Tensor& x, int64_t heads, int64_t first,
                   const PositionalOptions& options) = nullptr;
  // or by a bias that is added to the scores.
  std::unique_ptr<ScoreBias> (*score_bias)(int64_t heads, bool causal,
                                           const PositionalOptions& options) = nullptr;
  // Throws InputError, naming the key, for options that contradict themselves; null: nothing can.
  void (*validate)(const PositionalOptions& options) = nullptr;

  bool is_vector() const { return table || is_learned; }           // φ exists
  bool acts_in_attention() const { return rotate || score_bias; }  // with `rotate` or `score_bias`
};

// clang-format off
#define HEED_POSITIONAL_ENCODINGS(entry) \
  entry(none) \
  entry(sinusoidal) \
  entry(learned) \
  entry(integer) \
  entry(rotary) \
  entry(alibi) \
  entry(relative)
// clang-format on
HEED_REGISTRY(positional_encodings, PositionalRule, HEED_POSITIONAL_ENCODINGS)

// How φ joins the vector of the token, x: x + φ, or [x; φ].
enum class PositionalCombine { add, concat };

// The section [model.positional].
struct PositionalOptions {
  const PositionalRule* kind = &positional_encodings::sinusoidal;
  int64_t max_length = 512;                         // learned: positions in the table
  RotaryLayout layout = RotaryLayout::interleaved;  // sinusoidal, rotary
  int64_t first_k = 0;                              // sinusoidal
  double base = 10000;                              // sinusoidal, rotary
  PositionalCombine combine = PositionalCombine::add;
  int64_t dim = 0;             // width of φ if it is concatenated, otherwise 0
  int64_t buckets = 32;        // relative
  int64_t max_distance = 128;  // relative

  void fields(Fields& f);  // visits each, for a config
  // Throws InputError for values out of range and, naming the key, for options that contradict
  // themselves or a model of this width.
  void validate(int64_t model_dim) const;
};

// The width of a token's own vector in a model of width `dim`: dim less that of concatenated
// positions.
int64_t token_width(int64_t dim, const PositionalOptions& options);

// With ωₖ = base^(-2k/D) for k = first_k, first_k + 1, …; the paper has first_k = 0:
//   interleaved  φ(t) = [sin ω₀t, cos ω₀t, sin ω₁t, cos ω₁t, …]
//   halves       φ(t) = [sin ω₀t, sin ω₁t, …, cos ω₀t, cos ω₁t, …]
// In both, φ(s)·φ(t) = Σₖ cos ωₖ(s - t), a truncated Fourier series of the distance only. An odd
// width ends with a sine without its cosine. → (length, dim). Throws InputError for values out of
// range.
Tensor sinusoidal_positions(int64_t length, int64_t dim, const PositionalOptions& options = {});

// Adds or concatenates φ for the encodings that are vectors; returns x unchanged for the others.
class PositionalEncoding : public Positions {
 public:
  // For a model of width `dim`. Learned positions start as N(0, std²). `grid` holds the lengths of
  // the axes; the last varies fastest; empty: a sequence. Throws InputError for options
  // that contradict each other, or a width that the axes do not divide.
  PositionalEncoding(int64_t dim, const PositionalOptions& options, double std = 0.02,
                     std::span<const int64_t> grid = {});
  // x (B, T, token_width) at the positions first … first + T - 1 → (B, T, dim). Throws Error if the
  // last exceeds max_length of learned positions, or T is not the number of cells of the grid.
  Tensor operator()(const Tensor& x, int64_t first = 0) const override;

 private:
  Tensor for_sequence(int64_t first, int64_t last) const;  // (last - first, width)
  Tensor for_grid() const;                                 // (cells, width)

  PositionalOptions options_;
  int64_t token_width_, width_;  // of x, of φ
  std::vector<Part<Tensor>>
      learned_;  // (max_length, width), or for each axis (its length, its width)
  std::vector<int64_t> grid_;
  std::vector<Ids> coordinates_;  // of every cell, for each axis
  Lazy<Tensor> table_;            // computed: as many rows as were needed so far
};

// Returns a PositionalEncoding, or what nn/positions.h has for these options, with the same bits.
std::unique_ptr<Positions> make_positions(int64_t dim, const PositionalOptions& options,
                                          double std = 0.02, std::span<const int64_t> grid = {});

}  // namespace heed::inline HEED_REAL
