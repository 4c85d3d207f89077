// Sums, means and maxima over axes.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/autograd.h"
#include "core/kernels/map.h"
#include "core/kernels/more_kernels.h"
#include "core/kernels/simd/vector_math.h"
#include "core/more_ops.h"

namespace heed::inline HEED_REAL {
namespace {

using kernels::map_broadcast;
using Operand = kernels::Operand<real>;

// The shape that remains after reducing `axes`: with those axes of length 1, and without them.
struct Reduced {
  Shape kept, squeezed;

  Reduced(const char* operation, const Shape& shape, Axes axes) : kept(shape), squeezed(shape) {
    std::array<bool, Shape::max_rank> gone{};
    for (int axis : axes) {
      bool& this_one = gone[static_cast<size_t>(axis_of(operation, shape, axis))];
      check(!this_one, "{}: axis {} of {} is listed twice", operation, axis, shape);
      this_one = true;
    }
    for (int a = shape.rank() - 1; a >= 0; --a) {
      if (axes.size() > 0 && !gone[static_cast<size_t>(a)]) continue;
      kept = kept.with(a, 1);
      squeezed = squeezed.without(a);
    }
  }
};

// dx += factor · dy, repeated along the reduced axes
void spread(Backward& g, const Shape& whole, const Shape& kept, real factor) {
  map_broadcast(
      whole, g.into(0), [=](real dy) { return factor * dy; }, Operand{g.dy(), kept});
}

}  // namespace

// y = Σ x
Tensor sum(const Tensor& x, Axes axes, bool keep) {
  const Reduced to("sum", x.shape(), axes);
  Tensor y = Tensor::empty(keep ? to.kept : to.squeezed);
  kernels::sum_to(x.data(), x.shape(), to.kept, {y.mutable_data(), false});
  return record("sum", y, {x}, [whole = x.shape(), kept = to.kept](Backward& g) {
    spread(g, whole, kept, 1);  // dx += dy, repeated
  });
}

// y = Σ x / n
Tensor mean(const Tensor& x, Axes axes, bool keep) {
  const Reduced to("mean", x.shape(), axes);
  check(x.size() > 0 || to.kept.size() == 0, "mean: expected at least one element, got shape {}",
        x.shape());
  const int64_t count = x.size() / std::max<int64_t>(1, to.kept.size());
  const real part = 1 / static_cast<real>(count);
  Tensor total = Tensor::empty(to.kept);
  kernels::sum_to(x.data(), x.shape(), to.kept, {total.mutable_data(), false});
  Tensor y = Tensor::empty(keep ? to.kept : to.squeezed);
  kernels::scale(y.size(), total.data(), part, {y.mutable_data(), false});
  return record("mean", y, {x}, [part, whole = x.shape(), kept = to.kept](Backward& g) {
    spread(g, whole, kept, part);  // dx += dy / n, repeated
  });
}

// y = max x. An element equal to it has an equal share of the gradient.
static Tensor maximum(const char* name, const Tensor& x, Axes axes, bool keep) {
  const Reduced to(name, x.shape(), axes);
  check(x.size() > 0 || to.kept.size() == 0, "{}: expected at least one element, got shape {}",
        name, x.shape());
  Tensor y = Tensor::empty(keep ? to.kept : to.squeezed);
  kernels::max_to(x.data(), x.shape(), to.kept, y.mutable_data());
  return record(name, y, {x}, [kept = to.kept, xs = saved(x, x), ys = saved(y, x)](Backward& g) {
    // dx += dy / (number of x equal to y) where x = y
    const Shape& whole = xs.shape();
    Tensor equal = Tensor::empty(whole), ties = Tensor::empty(kept), share = Tensor::empty(kept);
    map_broadcast(
        whole, {equal.mutable_data(), false},
        [](real v, real largest) { return v == largest ? real{1} : real{0}; },
        Operand{xs.data(), whole}, Operand{ys.data(), kept});
    kernels::sum_to(equal.data(), whole, kept, {ties.mutable_data(), false});
    kernels::map(kept.size(), {share.mutable_data(), false},
                 [dy = g.dy(), n = ties.data()](int64_t i) { return dy[i] / n[i]; });
    map_broadcast(
        whole, g.into(0), [](real e, real s) { return e * s; }, Operand{equal.data(), whole},
        Operand{share.data(), kept});
  });
}

// y = max x
Tensor max(const Tensor& x, Axes axes, bool keep) { return maximum("max", x, axes, keep); }

// y = min x
Tensor min(const Tensor& x, Axes axes, bool keep) { return -maximum("min", -x, axes, keep); }

// y = Σ (x - mean(x))² / (n - correction)
Tensor var(const Tensor& x, Axes axes, bool keep, int64_t correction) {
  const Reduced to("var", x.shape(), axes);
  const int64_t n = x.size() / std::max<int64_t>(1, to.kept.size());
  check(correction >= 0 && n > correction,
        "var: the variance of {} elements with a correction of {} is undefined, in shape {}", n,
        correction, x.shape());
  return sum(pow(x - mean(x, axes, true), 2), axes, keep) * (1 / static_cast<real>(n - correction));
}

// y = m + log Σ e^(x - m), m = max x
Tensor logsumexp(const Tensor& x, Axes axes, bool keep) {
  constexpr real infinity = std::numeric_limits<real>::infinity();
  const Reduced to("logsumexp", x.shape(), axes);
  const Operand xs{x.data(), x.shape()};
  Tensor y = Tensor::empty(keep ? to.kept : to.squeezed), shift = Tensor::empty(to.kept);
  Tensor power = Tensor::empty(x.shape());
  kernels::max_to(x.data(), x.shape(), to.kept, shift.mutable_data());
  real *m = shift.mutable_data(), *to_y = y.mutable_data();
  kernels::map(y.size(), {m, false}, [=](int64_t i) {
    return std::isinf(m[i]) ? real{0} : m[i];  // inf - inf would be NaN
  });
  map_broadcast(
      x.shape(), {power.mutable_data(), false}, [](real v, real s) { return kernels::exp(v - s); },
      xs, Operand{m, to.kept});
  kernels::sum_to(power.data(), x.shape(), to.kept, {to_y, false});
  kernels::map(y.size(), {to_y, false}, [=](int64_t i) { return m[i] + std::log(to_y[i]); });
  return record(
      "logsumexp", y, {x}, [kept = to.kept, xs = saved(x, x), ys = saved(y, x)](Backward& g) {
        // dx += dy e^(x - y)
        map_broadcast(
            xs.shape(), g.into(0),
            [=](real dy, real v, real l) {
              return l == -infinity ? real{0} : dy * kernels::exp(v - l);
            },
            Operand{g.dy(), kept}, Operand{xs.data(), xs.shape()}, Operand{ys.data(), kept});
      });
}

}  // namespace heed::inline HEED_REAL
