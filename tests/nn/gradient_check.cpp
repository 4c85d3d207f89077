#include "gradient_check.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/autograd.h"

namespace heed::inline HEED_REAL::testing {

void check_gradients(const std::vector<NamedParameter>& with_respect_to,
                     const std::function<Tensor()>& loss) {
  for (const NamedParameter& p : with_respect_to) Tensor(p.tensor).clear_grad();
  backward(loss());
  std::vector<std::vector<real>> analytic;
  for (const NamedParameter& p : with_respect_to) {
    const Tensor g = p.tensor.grad();
    analytic.emplace_back(static_cast<size_t>(p.tensor.size()), real{0});
    if (g) analytic.back().assign(g.values().begin(), g.values().end());
    Tensor(p.tensor).clear_grad();
  }
#ifdef HEED_DOUBLE
  NoGradients here;
  for (size_t p = 0; p < with_respect_to.size(); ++p) {
    Tensor tensor = with_respect_to[p].tensor;
    for (int64_t i = 0; i < tensor.size(); ++i) {
      const real kept = tensor.data()[i], h = 1e-5;
      const auto loss_at = [&](real value) {
        tensor.mutable_data()[i] = value;
        return loss().item();
      };
      // Of two step widths, so that the error is O(h⁴): the norm of a narrow layer bends within
      // thousandths.
      const auto difference = [&](real step) {
        return loss_at(kept + step) - loss_at(kept - step);
      };
      const double numeric = (8 * difference(h) - difference(2 * h)) / (12 * h);
      tensor.mutable_data()[i] = kept;
      const double got = analytic[p][static_cast<size_t>(i)];
      CHECK_MESSAGE(
          std::abs(got - numeric) <= 1e-7 + 1e-6 * std::abs(numeric),
          with_respect_to[p].name << "[" << i << "]: got " << got << ", expected " << numeric);
    }
  }
#endif
}

}  // namespace heed::inline HEED_REAL::testing
