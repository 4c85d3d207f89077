// Matrix products of the linear layers in the models of `heed bench`, named rows x inputs x
// outputs.
//
//   nt   y = x wᵀ        forward       (rows, outputs), sums over inputs
//   nn   dx = dy w       backward      (rows, inputs), sums over outputs
//   tn   dw = dyᵀ x      backward      (outputs, inputs), sums over rows
//
// Each product in float32 is also measured with OpenBLAS, on as many threads.
#include "core/kernels/gemm/gemm.h"

#include <cblas.h>
#include <fmt/format.h>

#include <benchmark/benchmark.h>

#include "apps/support/machine.h"
#include "bench/kernels/limits.h"
#include "core/kernels/gemm/view.h"
#include "core/parallel.h"

namespace heed {
namespace {

struct Layer {
  int64_t rows, inputs, outputs;
};

constexpr Layer layers[] = {{512, 64, 64},     {512, 64, 256},    {512, 256, 64},
                            {768, 128, 384},   {4096, 384, 384},  {4096, 384, 1536},
                            {4096, 1536, 384}, {512, 512, 2048},  {256, 768, 3072},
                            {256, 768, 50257}, {2048, 2048, 2048}};

void openblas(const kernels::MatrixView& a, const kernels::MatrixView& b, float* c) {
  cblas_sgemm(CblasRowMajor, a.transposed ? CblasTrans : CblasNoTrans,
              b.transposed ? CblasTrans : CblasNoTrans, static_cast<int>(a.rows),
              static_cast<int>(b.columns), static_cast<int>(a.columns), 1, a.data,
              static_cast<int>(a.leading), b.data, static_cast<int>(b.leading), 0, c,
              static_cast<int>(b.columns));
}

// Times a · b with a (m, k) and b (k, n), each stored as such or transposed.
void run(benchmark::State& state, const Layer& layer, const std::string& layout,
         Precision precision, bool by_openblas) {
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
  if (by_openblas) openblas_set_num_threads(thread_count());
  const double seconds = time_calls(state, [&] {
    if (by_openblas)
      openblas(left, right, c.mutable_data());
    else
      kernels::gemm(left, right, {c.mutable_data(), false});
  });
  openblas_set_num_threads(1);  // as heed uses it
  count_flops(state, 2.0 * static_cast<double>(m * n * k), seconds, precision);
}

}  // namespace

void add_gemm() {
  for (const Precision precision : measured_precisions())
    for (const Layer& layer : layers)
      for (const char* layout : {"nt", "nn", "tn"})
        for (const bool by_openblas : {false, true})
          if (precision == Precision::highest || !by_openblas)
            benchmark::RegisterBenchmark(
                fmt::format("gemm/{}/{}x{}x{}/{}", layout, layer.rows, layer.inputs, layer.outputs,
                            by_openblas ? "openblas" : precision_name(precision))
                    .c_str(),
                run, layer, layout, precision, by_openblas)
                ->UseManualTime();
}

}  // namespace heed
