// Where a token stands: put into its vector, or told to attention.
//
//   sinusoidal, learned, integer   a vector φ(t) for each place t, added to the token's (Vaswani et
//                                  al. 2017, section 3.5) or set beside it, [x; φ(t)]
//   rotary, alibi, relative        the distance between query and key, which attention itself takes
//                                  into account: see core/ops.h and nn/score_bias.h
//
// Over a grid, a place has a coordinate on each axis. The columns of φ are shared out evenly, and
// each part is the φ of one coordinate:
//
//   φ(r, c) = [φ(r); φ(c)],  each half as wide as φ
//
// (Wang & Liu 2019 for sinusoids, where the exponent 4k/D is our 2k/(D/2); Dosovitskiy et al. 2021,
// appendix D.4, for learned positions).
#pragma once

#include <span>
#include <vector>

#include "core/fields.h"
#include "core/ops.h"
#include "nn/module.h"

namespace heed::inline HEED_REAL {

enum class PositionalKind {
  none,
  sinusoidal,
  learned,
  integer,  // φ(t) = t in every column, the bad example: φ(s)·φ(t) = s · t grows with the places
            // and says nothing of how far apart they are, and a late token is all position
  rotary,    // Su et al. 2021
  alibi,     // Press et al. 2022
  relative,  // Raffel et al. 2020, section 2.1
};

enum class PositionalCombine { add, concat };

struct PositionalOptions {
  PositionalKind kind = PositionalKind::sinusoidal;
  int64_t max_length = 512;                         // of learned positions; sinusoids have no end
  RotaryLayout layout = RotaryLayout::interleaved;  // of sinusoids and rotary
  int64_t first_k = 0;                              // of sinusoids
  double base = 10000;                              // of sinusoids and rotary
  PositionalCombine combine = PositionalCombine::add;
  int64_t dim = 0;             // width of φ where it is concatenated, else 0
  int64_t buckets = 32;        // relative
  int64_t max_distance = 128;  // relative

  void fields(Fields& f);
  // Throws InputError, naming the key, for what contradicts itself or a model of this width.
  void validate(int64_t model_dim) const;
};

// How wide a token's own vector is in a model of width `dim`: what concatenated positions leave.
int64_t token_width(int64_t dim, const PositionalOptions& options);

// With ωₖ = base^(-2k/D) for k = first_k, first_k + 1, …, which is the paper's for first_k = 0:
//   interleaved  φ(t) = [sin ω₀t, cos ω₀t, sin ω₁t, cos ω₁t, …]
//   halves       φ(t) = [sin ω₀t, sin ω₁t, …, cos ω₀t, cos ω₁t, …]
// Either way φ(s)·φ(t) = Σₖ cos ωₖ(s - t), a truncated Fourier series of the distance alone. An odd
// width ends with a sine that has no cosine. → (length, dim)
Tensor sinusoidal_positions(int64_t length, int64_t dim, const PositionalOptions& options = {});

// The kinds that are vectors; for the others it returns x as it is.
class PositionalEncoding : public Module {
 public:
  // For a model of width `dim`. Learned positions start as N(0, std²). `grid` holds the lengths of
  // its axes, the last of which runs fastest; empty: a sequence. Throws InputError for options that
  // contradict each other, or a width that the axes cannot share.
  PositionalEncoding(int64_t dim, const PositionalOptions& options, double std,
                     std::span<const int64_t> grid = {});
  // x (B, T, token_width), which stands at places first … first + T - 1 → (B, T, dim). Throws Error
  // if the last is beyond max_length of learned positions, or T not the number of cells of the
  // grid.
  Tensor operator()(const Tensor& x, int64_t first = 0) const;

 private:
  Tensor of_sequence(int64_t first, int64_t last) const;  // (last - first, width)
  Tensor of_grid() const;                                 // (cells, width)

  PositionalOptions options_;
  int64_t token_width_, width_;  // of x, of φ
  std::vector<Tensor> learned_;  // (max_length, width), or for each axis (its length, its width)
  std::vector<int64_t> grid_;
  std::vector<Ids> coordinates_;  // of every cell, for each axis
  mutable Tensor table_;          // not learned: as many rows as were needed so far
};

}  // namespace heed::inline HEED_REAL
