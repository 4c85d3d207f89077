// Sums, means and maxima over axes.
#include "core/kernels/reduce.h"

#include <algorithm>
#include <array>

#include "core/autograd.h"
#include "core/kernels/arithmetic.h"
#include "core/ops.h"

namespace heed::inline HEED_REAL {
namespace {

// What reducing `axes` of a shape leaves: with those axes of length 1, and without them.
struct Reduced {
  Shape kept, squeezed;

  Reduced(const char* operation, const Shape& shape, Axes axes) : kept(shape), squeezed(shape) {
    std::array<bool, Shape::max_rank> gone{};
    for (int axis : axes) {
      bool& this_one = gone[static_cast<size_t>(axis_of(operation, shape, axis))];
      check(!this_one, "{}: axis {} of {} is named twice", operation, axis, shape);
      this_one = true;
    }
    for (int a = shape.rank() - 1; a >= 0; --a) {
      if (axes.size() > 0 && !gone[static_cast<size_t>(a)]) continue;
      kept = kept.with(a, 1);
      squeezed = squeezed.without(a);
    }
  }
};

}  // namespace

// y = Σ x
Tensor sum(const Tensor& x, Axes axes, bool keep) {
  const Reduced to("sum", x.shape(), axes);
  Tensor y = Tensor::empty(keep ? to.kept : to.squeezed);
  kernels::sum_to(x.data(), x.shape(), to.kept, {y.mutable_data(), false});
  return record("sum", y, {x}, [whole = x.shape(), kept = to.kept](Backward& g) {
    kernels::spread(whole, {g.dy(), kept}, 1, g.into(0));  // dx += dy, repeated
  });
}

// y = Σ x / n
Tensor mean(const Tensor& x, Axes axes, bool keep) {
  const Reduced to("mean", x.shape(), axes);
  check(x.size() > 0 || to.kept.size() == 0, "mean: there is no mean of no numbers, in shape {}",
        x.shape());
  const int64_t count = x.size() / std::max<int64_t>(1, to.kept.size());
  const real part = 1 / static_cast<real>(count);
  Tensor total = Tensor::empty(to.kept);
  kernels::sum_to(x.data(), x.shape(), to.kept, {total.mutable_data(), false});
  Tensor y = Tensor::empty(keep ? to.kept : to.squeezed);
  kernels::scale(y.size(), total.data(), part, {y.mutable_data(), false});
  return record("mean", y, {x}, [part, whole = x.shape(), kept = to.kept](Backward& g) {
    kernels::spread(whole, {g.dy(), kept}, part, g.into(0));  // dx += dy / n, repeated
  });
}

// y = max x
Tensor max(const Tensor& x, Axes axes, bool keep) {
  const Reduced to("max", x.shape(), axes);
  check(x.size() > 0 || to.kept.size() == 0, "max: there is no greatest of no numbers, in shape {}",
        x.shape());
  Tensor y = Tensor::empty(keep ? to.kept : to.squeezed);
  kernels::max_to(x.data(), x.shape(), to.kept, y.mutable_data());
  return record("max", y, {x}, [kept = to.kept, xs = saved(x, x), ys = saved(y, x)](Backward& g) {
    // dx += dy / (how many x equal y) where x = y
    const Shape& whole = xs.shape();
    Tensor equal = Tensor::empty(whole), ties = Tensor::empty(kept), share = Tensor::empty(kept);
    kernels::equal(whole, {xs.data(), whole}, {ys.data(), kept}, equal.mutable_data());
    kernels::sum_to(equal.data(), whole, kept, {ties.mutable_data(), false});
    kernels::div(kept, {g.dy(), kept}, {ties.data(), kept}, {share.mutable_data(), false});
    kernels::mul(whole, {equal.data(), whole}, {share.data(), kept}, g.into(0));
  });
}

}  // namespace heed::inline HEED_REAL
