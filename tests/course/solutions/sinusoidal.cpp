#include <cmath>

#include "core/ops.h"

namespace heed::course {

// Row t: sin(ωₖ t) in column 2k, cos(ωₖ t) in column 2k + 1, with ωₖ = 10000^(-2k/dim).
// → (length, dim), dim even
Tensor sinusoidal_table(int64_t length, int64_t dim) {
  Tensor table = Tensor::zeros({length, dim});
  for (int64_t t = 0; t < length; ++t)
    for (int64_t c = 0; c < dim; ++c) {
      const double exponent = -static_cast<double>(c / 2 * 2) / static_cast<double>(dim);
      const double angle = static_cast<double>(t) * std::pow(10000.0, exponent);
      table.mutable_data()[t * dim + c] = c % 2 == 0 ? std::sin(angle) : std::cos(angle);
    }
  return table;
}

}  // namespace heed::course
