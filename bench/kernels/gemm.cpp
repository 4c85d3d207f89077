// Matrix products of the linear layers in the models of `heed bench`, named rows x inputs x
// outputs.
//
//   nt   y = x wᵀ        forward       (rows, outputs), sums over inputs
//   nn   dx = dy w       backward      (rows, inputs), sums over outputs
//   tn   dw = dyᵀ x      backward      (outputs, inputs), sums over rows
#include "core/kernels/gemm/gemm.h"

#include <fmt/format.h>

#include <benchmark/benchmark.h>

#include "apps/support/machine.h"
#include "bench/kernels/limits.h"

namespace heed {
namespace {

struct Layer {
  int64_t rows, inputs, outputs;
};

constexpr Layer layers[] = {{512, 64, 64},     {512, 64, 256},    {512, 256, 64},
                            {768, 128, 384},   {4096, 384, 384},  {4096, 384, 1536},
                            {4096, 1536, 384}, {512, 512, 2048},  {256, 768, 3072},
                            {256, 768, 50257}, {2048, 2048, 2048}};

// Times a · b with a (m, k) and b (k, n), each stored as such or transposed.
void run(benchmark::State& state, const Layer& layer, const std::string& layout,
         Precision precision) {
  ScopeGuard here;
  here->precision = precision;
  const auto [rows, inputs, outputs] = layer;
  const bool forward = layout == "nt", weight_gradient = layout == "tn";
  const int64_t m = weight_gradient ? outputs : rows, n = forward ? outputs : inputs;
  const int64_t k = forward ? inputs : weight_gradient ? rows : outputs;
  const Tensor a = random_leaf({m, k}), b = random_leaf({k, n});
  Tensor c = Tensor::zeros({m, n});
  using kernels::Matrix;
  const Matrix left = weight_gradient ? Matrix{a.data(), k, m}.t() : Matrix{a.data(), m, k};
  const Matrix right = forward ? Matrix{b.data(), n, k}.t() : Matrix{b.data(), k, n};
  const double seconds = time_calls(state, [&] {
    kernels::gemm(left, right, {c.mutable_data(), false});
  });
  count_flops(state, 2.0 * static_cast<double>(m * n * k), seconds, precision);
}

}  // namespace

void add_gemm() {
  for (const Precision precision : measured_precisions())
    for (const Layer& layer : layers)
      for (const char* layout : {"nt", "nn", "tn"})
        benchmark::RegisterBenchmark(
            fmt::format("gemm/{}/{}x{}x{}/{}", layout, layer.rows, layer.inputs, layer.outputs,
                        precision_name(precision))
                .c_str(),
            run, layer, layout, precision)
            ->UseManualTime();
}

}  // namespace heed
