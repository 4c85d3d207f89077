// Products of matrices, in the shapes of the models of `heed bench`: m × n with k in between is
// what a linear layer of k inputs and n outputs does to m rows.
//
//   nt   c = a bᵀ   y = x wᵀ        forward
//   nn   c = a b    dx = dy w       backward
//   tn   c = aᵀ b   dw = dyᵀ x      backward
#include "core/kernels/gemm.h"

#include <fmt/format.h>

#include <benchmark/benchmark.h>

#include "apps/machine.h"
#include "bench/kernels/limits.h"

namespace heed {
namespace {

struct Product {
  int64_t m, n, k;
};

constexpr Product products[] = {{512, 64, 64},    {512, 256, 64},    {768, 384, 128},
                                {4096, 384, 384}, {4096, 1536, 384}, {256, 50257, 768},
                                {512, 2048, 512}, {2048, 2048, 2048}};

void run(benchmark::State& state, const Product& p, const std::string& layout,
         Precision precision) {
  ScopeGuard here;
  here->precision = precision;
  const Tensor a = random_leaf({p.m, p.k}), b = random_leaf({p.k, p.n});
  Tensor c = Tensor::zeros({p.m, p.n});
  using kernels::Matrix;
  const Matrix left =
      layout[0] == 't' ? Matrix(a.data(), p.k, p.m).t() : Matrix(a.data(), p.m, p.k);
  const Matrix right =
      layout[1] == 't' ? Matrix(b.data(), p.n, p.k).t() : Matrix(b.data(), p.k, p.n);
  const double seconds = time_calls(state, [&] {
    kernels::gemm(left, right, {c.mutable_data(), false});
  });
  count_flops(state, 2.0 * static_cast<double>(p.m * p.n * p.k), seconds, precision);
}

}  // namespace

void add_gemm() {
  for (const Precision precision : measured_precisions())
    for (const Product& p : products)
      for (const char* layout : {"nt", "nn", "tn"})
        benchmark::RegisterBenchmark(
            fmt::format("gemm/{}/{}x{}x{}/{}", layout, p.m, p.n, p.k, precision_name(precision))
                .c_str(),
            run, p, layout, precision)
            ->UseManualTime();
}

}  // namespace heed
