// Defines nn/positions.h: the rules of the Transformer, then the layer.
#include "nn/positions.h"

#include <algorithm>
#include <cmath>

#include "nn/init.h"

namespace heed::inline HEED_REAL {

const PositionalRule positional_encodings::none = {.name = "none"};

static Tensor sinusoids(int64_t length, int64_t dim, const PositionalOptions& o) {
  const bool interleaved = o.layout == RotaryLayout::interleaved;
  const int64_t sines = (dim + 1) / 2;
  Tensor table = Tensor::empty({length, dim});
  real* const to = table.mutable_data();
  for (int64_t c = 0; c < dim && !scope().shapes_only; ++c) {
    const int64_t k = o.first_k + (interleaved ? c / 2 : c % sines);
    const bool sine = interleaved ? c % 2 == 0 : c < sines;
    const double exponent = static_cast<double>(2 * k) / static_cast<double>(dim);
    const double omega = std::pow(o.base, -exponent);
    for (int64_t t = 0; t < length; ++t) {
      const double angle = omega * static_cast<double>(t);
      to[t * dim + c] = static_cast<real>(sine ? std::sin(angle) : std::cos(angle));
    }
  }
  return table;
}

const PositionalRule positional_encodings::sinusoidal = {
    .name = "sinusoidal", .table = sinusoids, .columns_per_frequency = 2, .scales_embedding = true};

const PositionalRule positional_encodings::learned = {
    .name = "learned", .is_learned = true, .is_limited = true};

// Su et al. 2021, "RoFormer", equations 14 to 16: see rotary() in core/standard_ops.h.
const PositionalRule positional_encodings::rotary = {
    .name = "rotary",
    .rotate = [](const Tensor& x, int64_t heads, int64_t first, const PositionalOptions& o) {
      return heed::rotary(x, heads, {o.layout, o.base, first});
    }};

Positions::Positions(int64_t dim, const PositionalOptions& o, double std)
    : Positions((o.validate(dim), o), dim,
                o.kind->is_learned ? normal_parameter({o.max_length, dim}, std) : Tensor()) {
  check_input(o.dim == 0, "positional encoding: concatenated positions need make_positions()");
}

Positions::Positions(const PositionalOptions& options, int64_t width, const Tensor& learned)
    : weight(this, "weight", learned), options_(options), width_(width) {}

Tensor Positions::rows(int64_t first, int64_t last) const {
  const auto fits = [=](const Tensor& table) { return table.dim(0) >= last; };
  const auto compute = [&] {
    return options_.kind->table(std::max<int64_t>(64, 2 * last), width_, options_);
  };
  const Tensor table = weight ? Tensor(weight) : table_.get(fits, compute);
  check(last <= table.dim(0),
        "positional encoding: a sequence of {} exceeds the {} positions that there are; raise "
        "`max_length`",
        last, table.dim(0));
  return first == 0 && last == table.dim(0) ? table : slice(table, 0, first, last);
}

Tensor Positions::operator()(const Tensor& x, int64_t first, const Ids& at) const {
  const ModuleScope here(*this);
  if (!options_.kind->is_vector()) return x;
  check(x.rank() == 3 && x.dim(2) == width_,
        "positional encoding: x must have shape [B, T, {}], has {}", width_, x.shape());
  if (at)
    return x + embedding(rows(0, *std::max_element(at.data(), at.data() + at.size()) + 1), at);
  return x + rows(first, first + x.dim(1));
}

}  // namespace heed::inline HEED_REAL
