#include "nn/positional.h"

#include <algorithm>
#include <cmath>

#include "core/ops.h"
#include "nn/init.h"

namespace heed::inline HEED_REAL {

void PositionalOptions::fields(Fields& f) {
  static constexpr const char* kinds[] = {"none", "sinusoidal", "learned"};
  f.choice("kind", kind, kinds, "how a token knows its place");
  f.integer("max_length", max_length, {1, 1 << 20}, "places there are to learn (kind = learned)");
}

Tensor sinusoidal_positions(int64_t length, int64_t dim) {
  Tensor table = Tensor::empty({length, dim});
  real* to = table.mutable_data();
  for (int64_t t = 0; t < length; ++t)
    for (int64_t c = 0; c < dim; ++c) {
      const double exponent = static_cast<double>(c / 2 * 2) / static_cast<double>(dim);
      const double angle = static_cast<double>(t) * std::pow(10000.0, -exponent);
      to[t * dim + c] = static_cast<real>(c % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  return table;
}

PositionalEncoding::PositionalEncoding(int64_t dim, const PositionalOptions& options, double std)
    : kind_(options.kind) {
  if (kind_ == PositionalKind::learned) weight = normal_parameter({options.max_length, dim}, std);
  add("weight", weight);
}

Tensor PositionalEncoding::operator()(const Tensor& x) const {
  if (kind_ == PositionalKind::none) return x;
  const int64_t length = x.dim(1), dim = x.dim(2);
  if (kind_ == PositionalKind::sinusoidal && (!table_ || table_.dim(0) < length))
    table_ = sinusoidal_positions(std::max<int64_t>(64, 2 * length), dim);
  const Tensor& positions = kind_ == PositionalKind::learned ? weight : table_;
  check(length <= positions.dim(0),
        "positional encoding: a sequence of {} is longer than the {} positions there are; raise "
        "model.positional.max_length",
        length, positions.dim(0));
  return x + (length == positions.dim(0) ? positions : slice(positions, 0, 0, length));
}

}  // namespace heed::inline HEED_REAL
