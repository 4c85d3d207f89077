// Defines nn/positions.h: sinusoids, then learned positions.
#include "nn/positions.h"

#include <algorithm>
#include <cmath>

#include "core/standard_ops.h"
#include "nn/init.h"

namespace heed::inline HEED_REAL {
namespace {

// The rows p(0) … p(length - 1).
Tensor sinusoids(int64_t length, int64_t dim) {
  Tensor table = Tensor::empty({length, dim});
  real* const to = table.mutable_data();
  for (int64_t c = 0; c < dim && !scope().shapes_only; ++c) {
    const double exponent = static_cast<double>(c / 2 * 2) / static_cast<double>(dim);
    const double omega = std::pow(10000.0, -exponent);
    for (int64_t t = 0; t < length; ++t) {
      const double angle = omega * static_cast<double>(t);
      to[t * dim + c] = static_cast<real>(c % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  }
  return table;
}

// x + rows first … first + T - 1 of the table.
Tensor add_rows(const Tensor& x, const Tensor& table, int64_t first) {
  const int64_t last = first + x.dim(1);
  return x + (first == 0 && last == table.dim(0) ? table : slice(table, 0, first, last));
}

void check_shape(const Tensor& x, int64_t dim) {
  check(x.rank() == 3 && x.dim(2) == dim,
        "positional encoding: x must have shape [B, T, {}], has {}", dim, x.shape());
}

}  // namespace

Tensor Positions::operator()(const Tensor& x, int64_t) const { return x; }

Tensor SinusoidalPositions::operator()(const Tensor& x, int64_t first) const {
  const ModuleScope here(*this);
  check_shape(x, x.dim(-1));
  const int64_t last = first + x.dim(1), dim = x.dim(2);
  const auto fits = [=](const Tensor& table) {
    return table.dim(0) >= last && table.dim(1) == dim;
  };
  const auto compute = [=] { return sinusoids(std::max<int64_t>(64, 2 * last), dim); };
  return add_rows(x, table_.get(fits, compute), first);
}

LearnedPositions::LearnedPositions(int64_t max_length, int64_t dim, double std)
    : weight(this, "weight", normal_parameter({max_length, dim}, std)) {}

Tensor LearnedPositions::operator()(const Tensor& x, int64_t first) const {
  const ModuleScope here(*this);
  check_shape(x, weight.dim(1));
  const int64_t last = first + x.dim(1);
  check(last <= weight.dim(0),
        "positional encoding: a sequence of {} exceeds the {} learned positions; raise "
        "`max_length`",
        last, weight.dim(0));
  return add_rows(x, weight, first);
}

}  // namespace heed::inline HEED_REAL
