// Cross entropy: how surprised the model is by the right tokens, and its gradient.
#include "core/reference/reference.h"

namespace heed::inline HEED_REAL::kernels {

// L = -Σₙ Σᵥ p[n, v] log softmax(x[n])[v],     dL/dx[n, v] = softmax(x[n])[v] - p[n, v]
//
// over the rows n whose target counts; x = logits (rows, classes). The target distribution p of a
// row is p.target for its target, 0 for the class p.never, p.other for every other class.
double cross_entropy(const CrossEntropySizes& n, const TargetDistribution& p, const real* logits,
                     const int32_t* targets, real* gradient, real* losses) {
  double sum = 0;
  for (int64_t row = 0; row < bound(n.rows); ++row) {
    const real* x = logits + row * n.classes;
    const SumExp total = sum_exp(n.classes, [&](int64_t v) { return x[v]; });
    const double log_total = total.log();
    const bool counts = targets[row] != n.ignored;
    double loss = 0;
    for (int64_t v = 0; v < n.classes; ++v) {
      const double probability = v == targets[row] ? p.target : v == p.never ? 0 : p.other;
      const double log_softmax = total.sum == 0 ? -INFINITY : x[v] - log_total;
      const double derivative = total.sum == 0 ? 0 : total.softmax(x[v]) - probability;
      if (counts && probability > 0) loss -= probability * log_softmax;
      if (gradient) gradient[row * n.classes + v] = counts ? derivative : 0;  // may be x[v]
    }
    if (losses) losses[row] = static_cast<real>(loss);
    sum += loss;
  }
  return sum;
}

// to[n, v] = factors[n] x[n, v]
void scale_rows(const Rows& sizes, const real* factors, const real* x, Destination to) {
  const auto [rows, width] = sizes;
  for (int64_t n = 0; n < bound(rows); ++n)
    for (int64_t v = n * width; v < (n + 1) * width; ++v) write(to, v, double{factors[n]} * x[v]);
}

}  // namespace heed::inline HEED_REAL::kernels
