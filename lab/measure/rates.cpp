#include "lab/measure/rates.h"

#include <algorithm>
#include <map>
#include <vector>

#include "core/check.h"
#include "core/kernels/gemm/gemm.h"
#include "core/kernels/more_kernels.h"
#include "core/kernels/simd/vector.h"
#include "core/parallel_for.h"
#include "core/pool.h"
#include "core/tensor.h"
#include "lab/measure/median.h"

namespace heed {
namespace {

double measured_bandwidth() {
  std::vector<double> seconds;
  constexpr int64_t n = 1 << 25;
  {
    const Tensor a = Tensor::full({n}, 1), b = Tensor::full({n}, 1);
    Tensor c = Tensor::full({n}, 0);
    seconds = seconds_of(0.1, [&] {
      kernels::scaled_difference(n, 1, a.data(), b.data(), {c.mutable_data(), false});
    });
  }
  pool_trim();
  return 3.0 * n * sizeof(real) / std::ranges::min(seconds);
}

double measured_read_bandwidth() {
  using kernels::Vector;
  std::vector<double> seconds;
  constexpr int64_t n = 1 << 27, part = 1 << 16;
  {
    const Tensor a = Tensor::full({n}, 1);
    std::vector<real> sums(n / part);
    seconds = seconds_of(0.1, [&] {
      parallel_for(n, part, [&](int64_t first, int64_t last) {
        constexpr int at_once = 4;  // sums, so that none waits for the one before
        Vector sum[at_once] = {};
        for (int64_t i = first; i < last; i += at_once * kernels::lanes)
          for (int v = 0; v < at_once; ++v)
            sum[v] += kernels::load(a.data() + i + v * kernels::lanes);
        sums[static_cast<size_t>(first / part)] = kernels::sum(sum[0] + sum[1] + sum[2] + sum[3]);
      });
    });
    check(sums.back() == part, "read bandwidth: a part of the sum is {}", sums.back());
  }
  pool_trim();
  return static_cast<double>(n * sizeof(real)) / std::ranges::min(seconds);
}

}  // namespace

double gemm_rate(Precision precision) {
  static std::map<Precision, double> measured;
  if (const auto known = measured.find(precision); known != measured.end()) return known->second;
  ScopeGuard here;
  here->precision = precision;
  double rate = 0;
  for (const int64_t n : {2048, 1024, 384}) {  // the first ones warm up the processor
    const Tensor a = Tensor::full({n, n}, 1), b = Tensor::full({n, n}, 1);
    Tensor c = Tensor::full({n, n}, 0);
    const double seconds = median_of(seconds_of(0.1, [&] {
      kernels::gemm({a.data(), n, n}, {b.data(), n, n}, {c.mutable_data(), false});
    }));
    rate = std::max(rate, 2.0 * static_cast<double>(n * n * n) / seconds);
  }
  return measured[precision] = rate;
}

double memory_bandwidth() {
  static const double bandwidth = measured_bandwidth();
  return bandwidth;
}

double read_bandwidth() {
  static const double bandwidth = measured_read_bandwidth();
  return bandwidth;
}

}  // namespace heed
