#include <cmath>

#include "core/parallel_for.h"
#include "nn/positional.h"

namespace heed::inline HEED_REAL {

Tensor sinusoidal_positions(int64_t length, int64_t dim, const PositionalOptions& options) {
  check_fields(options, "sinusoidal positions");
  const int64_t sines = (dim + 1) / 2;
  const bool interleaved = options.layout == RotaryLayout::interleaved;
  Tensor table = Tensor::empty({length, dim});
  real* to = table.mutable_data();
  constexpr int64_t cost = 32;  // of a power and a sine, in simple operations
  parallel_for(length, chunk_rows(cost * dim), [&](int64_t first, int64_t last) {
    for (int64_t t = first; t < last; ++t)
      for (int64_t c = 0; c < dim; ++c) {
        const int64_t k = options.first_k + (interleaved ? c / 2 : c % sines);
        const bool sine = interleaved ? c % 2 == 0 : c < sines;
        const double exponent = static_cast<double>(2 * k) / static_cast<double>(dim);
        const double angle = static_cast<double>(t) * std::pow(options.base, -exponent);
        to[t * dim + c] = static_cast<real>(sine ? std::sin(angle) : std::cos(angle));
      }
  });
  return table;
}

const PositionalRule positional_encodings::sinusoidal = {
    .name = "sinusoidal",
    .table = sinusoidal_positions,
    .columns_per_frequency = 2,
    .scales_embedding = true,
    .validate = [](const PositionalOptions& o) {
      check_keys(o.dim % 2 == 0, {"model.positional.dim"},
                 "model.positional.dim = {} must be even: a sine and a cosine for each frequency",
                 o.dim);
    }};

}  // namespace heed::inline HEED_REAL
