// Scaled dot-product attention with 6 heads of width 64 and 4,096 queries in total, by sequence
// length. FLOPs count only the pairs of query and key that are not masked: with a causal mask about
// half.
#include <fmt/format.h>

#include <algorithm>

#include "bench/kernels/limits.h"
#include "core/ops.h"

namespace heed {
namespace {

constexpr int64_t heads = 6, width = 64, rows = 4096;

// The fraction of the pairs of query and key that are not masked.
double visible(int64_t time, bool causal) {
  return causal ? static_cast<double>(time + 1) / static_cast<double>(2 * time) : 1;
}

Computation attention(int64_t time, bool causal) {
  const Shape shape{std::max<int64_t>(1, rows / time), time, heads * width};
  const Tensor q = random_leaf(shape), k = random_leaf(shape), v = random_leaf(shape);
  AttentionOptions options;
  options.mask.causal = causal;
  return [=] { return scaled_dot_product_attention(q, k, v, heads, options); };
}

}  // namespace

void add_attention() {
  for (const bool causal : {false, true})
    for (int64_t time = 64; time <= rows; time *= 2)
      add_passes("attention", fmt::format("{}{}", time, causal ? "/causal" : ""),
                 [=](benchmark::State& state, Pass pass) {
                   const auto [seconds, cost] =
                       time_operation(state, attention(time, causal), pass);
                   count_flops(state, visible(time, causal) * cost.flops, seconds);
                 });
}

}  // namespace heed
