#include "apps/rates.h"

#include <algorithm>
#include <limits>

#include "apps/clock.h"
#include "core/kernels/arithmetic.h"
#include "core/kernels/gemm.h"
#include "core/pool.h"
#include "core/tensor.h"

namespace heed {
namespace {

// Seconds of the fastest of three runs, or of as many as there is time for.
template <class F>
double fastest(F&& f) {
  constexpr double enough = 0.1;  // seconds
  double least = std::numeric_limits<double>::infinity();
  const double end = now() + enough;
  for (int i = 0; i < 3 || now() < end; ++i) {
    const double start = now();
    f();
    least = std::min(least, now() - start);
  }
  return least;
}

}  // namespace

double gemm_rate(Precision precision) {
  ScopeGuard here;
  here->precision = precision;
  double rate = 0;
  for (const int64_t n : {384, 1024, 2048}) {
    const Tensor a = Tensor::full({n, n}, 1), b = Tensor::full({n, n}, 1);
    Tensor c = Tensor::full({n, n}, 0);
    const double seconds = fastest([&] {
      kernels::gemm({a.data(), n, n}, {b.data(), n, n}, {c.mutable_data(), false});
    });
    rate = std::max(rate, 2.0 * static_cast<double>(n * n * n) / seconds);
  }
  return rate;
}

double memory_bandwidth() {
  double seconds;
  constexpr int64_t n = 1 << 25;
  {
    const Tensor a = Tensor::full({n}, 1), b = Tensor::full({n}, 1);
    Tensor c = Tensor::full({n}, 0);
    seconds = fastest([&] {
      kernels::add({n}, {a.data(), {n}}, {b.data(), {n}}, {c.mutable_data(), false});
    });
  }
  pool_trim();
  return 3.0 * n * sizeof(real) / seconds;
}

}  // namespace heed
