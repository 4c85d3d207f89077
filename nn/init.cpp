// Defines nn/init.h: random and constant parameters, then the widths of their distributions.
#include "nn/init.h"

#include <cmath>

#include "core/scope.h"

namespace heed::inline HEED_REAL {

template <class Draw>
static Tensor random_parameter(const Shape& shape, Draw draw) {
  Random random(scope().next_stream(Purpose::initialisation));
  Tensor tensor = Tensor::empty(shape);
  if (!scope().initialise || scope().shapes_only) return tensor.set_requires_grad();
  real* to = tensor.mutable_data();
  for (int64_t i = 0; i < tensor.size(); ++i) to[i] = static_cast<real>(draw(random));
  return tensor.set_requires_grad();
}

static Tensor uniform_parameter(const Shape& shape, double bound) {
  return random_parameter(shape, [=](Random& r) { return bound * (2 * r.uniform() - 1); });
}

Tensor normal_parameter(const Shape& shape, double std) {
  return random_parameter(shape, [=](Random& r) { return std * r.normal(); });
}

Tensor constant_parameter(const Shape& shape, real value) {
  return Tensor::full(shape, value).set_requires_grad();
}

Tensor initial_weight(const Shape& shape, const InitOptions& init, int64_t residual_depth) {
  check(shape.rank() >= 2,
        "init: a weight must have shape [fan out, fan in] or [..., fan out, fan in], got {}",
        shape);
  init.validate();
  check_input(residual_depth >= 0, "init: residual_depth: expected an integer, ≥ 0, found {}",
              residual_depth);
  const double fan_out = static_cast<double>(shape[-2]), fan_in = static_cast<double>(shape[-1]);
  switch (init.kind) {
    case InitKind::xavier_uniform:
      return uniform_parameter(shape, init.gain * std::sqrt(6 / (fan_in + fan_out)));
    case InitKind::xavier_normal:
      return normal_parameter(shape, init.gain * std::sqrt(2 / (fan_in + fan_out)));
    case InitKind::kaiming_uniform:
      return uniform_parameter(shape, init.gain * std::sqrt(6 / fan_in));
    case InitKind::kaiming_normal:
      return normal_parameter(shape, init.gain * std::sqrt(2 / fan_in));
    case InitKind::normal:
      return normal_parameter(shape, init.std);
    case InitKind::gpt2:
      return normal_parameter(shape, residual_depth
                                         ? init.std / std::sqrt(static_cast<double>(residual_depth))
                                         : init.std);
  }
  throw Error("init: unknown kind");
}

}  // namespace heed::inline HEED_REAL
