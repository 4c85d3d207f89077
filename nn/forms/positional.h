// Every positional encoding: how a model knows the position of a token. A form is a rule, in
// nn/positions.cpp, nn/forms/positional.cpp or a file of its own, and a line of
// HEED_POSITIONAL_ENCODINGS.
//
//   sinusoidal, learned, integer,  a vector φ(t) for each position t, added to the token's (Vaswani
//   gaussian                       et al. 2017, section 3.5) or concatenated with it, [x; φ(t)]
//   rotary                         attention rotates queries and keys (Su et al. 2021)
//   alibi, relative                attention adds a bias to the scores (Press et al. 2022;
//                                  Raffel et al. 2020, section 2.1): nn/forms/score_bias.h
//
// On a grid, a position has a coordinate on each axis. The columns of φ are divided equally among
// the axes, and each part is the φ of one coordinate:
//
//   φ(r, c) = [φ(r); φ(c)],  each half as wide as φ
//
// (Wang & Liu 2019 for sinusoids, where the exponent 4k/D is our 2k/(D/2); Dosovitskiy et al. 2021,
// appendix D.4, for learned positions).
#pragma once

#include <vector>

#include "core/fields.h"
#include "core/ids.h"
#include "core/registry.h"
#include "nn/positions.h"

namespace heed::inline HEED_REAL {

// clang-format off
#define HEED_POSITIONAL_ENCODINGS(entry) \
  entry(none) \
  entry(sinusoidal) \
  entry(learned) \
  entry(integer) \
  entry(gaussian) \
  entry(rotary) \
  entry(alibi) \
  entry(relative)
// clang-format on
HEED_REGISTRY(positional_encodings, PositionalRule, HEED_POSITIONAL_ENCODINGS)

// How φ joins the vector of the token, x: x + φ, or [x; φ].
enum class PositionalCombine { add, concat };

// The width of a token's own vector in a model of width `dim`: dim less that of concatenated
// positions.
inline int64_t token_width(int64_t dim, const PositionalOptions& options) {
  return dim - options.dim;
}

// The table of sinusoids. With ωₖ = base^(-2k/D) for k = first_k, first_k + 1, …; the paper has
// first_k = 0:
//   interleaved  φ(t) = [sin ω₀t, cos ω₀t, sin ω₁t, cos ω₁t, …]
//   halves       φ(t) = [sin ω₀t, sin ω₁t, …, cos ω₀t, cos ω₁t, …]
// In both, φ(s)·φ(t) = Σₖ cos ωₖ(s - t), a truncated Fourier series of the distance only. An odd
// width ends with a sine without its cosine. → (length, dim). Throws InputError for values out of
// range.
Tensor sinusoidal_positions(int64_t length, int64_t dim, const PositionalOptions& options = {});

// Positions that are concatenated, or those of a grid.
class PositionalEncoding : public Positions {
 public:
  // `grid` holds the lengths of the axes; the last varies fastest; empty: a sequence. Throws
  // InputError for options that contradict each other, or a width that the axes do not divide.
  PositionalEncoding(int64_t dim, const PositionalOptions& options, double std = 0.02,
                     std::span<const int64_t> grid = {});
  // x (B, T, token_width) → (B, T, dim). Throws Error also if T is not the number of cells.
  Tensor operator()(const Tensor& x, int64_t first = 0, const Ids& at = {}) const override;

 private:
  Tensor rows(int64_t first, int64_t last) const override;

  int64_t token_width_;                // of x
  std::vector<Part<Tensor>> learned_;  // for each axis (its length, its width)
  std::vector<int64_t> grid_;
  std::vector<Ids> coordinates_;  // of every cell, for each axis
};

}  // namespace heed::inline HEED_REAL
