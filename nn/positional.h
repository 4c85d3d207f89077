// Where a token stands, added to what it is.
#pragma once

#include "core/fields.h"
#include "nn/module.h"

namespace heed::inline HEED_REAL {

enum class PositionalKind { none, sinusoidal, learned };

struct PositionalOptions {
  PositionalKind kind = PositionalKind::sinusoidal;
  int64_t max_length = 512;  // of learned positions; sinusoids have no end

  void fields(Fields& f);
};

// Vaswani et al. 2017, section 3.5: φ(t)[2k] = sin(t / 10000^(2k/D)), φ(t)[2k+1] = cos of the same,
// for k = 0, 1, …; φ(s)·φ(t) depends on s - t alone. → (length, dim)
Tensor sinusoidal_positions(int64_t length, int64_t dim);

class PositionalEncoding : public Module {
 public:
  // Learned positions start as N(0, std²).
  PositionalEncoding(int64_t dim, const PositionalOptions& options, double std);
  // x (B, T, dim) → x + φ(0 … T-1). Throws Error if T is beyond max_length of learned positions.
  Tensor operator()(const Tensor& x) const;

  Tensor weight;  // learned: (max_length, dim)

 private:
  PositionalKind kind_;
  mutable Tensor table_;  // sinusoidal: as many rows as were needed so far
};

}  // namespace heed::inline HEED_REAL
