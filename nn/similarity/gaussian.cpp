#include "core/ops.h"
#include "nn/similarity.h"

namespace heed::inline HEED_REAL {
namespace {

// -‖q - k‖² / 2σ² = (q·k - ‖q‖²/2 - ‖k‖²/2) / σ²
Tensor gaussian_scores(const Similarity& layer, const Tensor& q, const Tensor& k) {
  const auto half_squares = [](const Tensor& x) { return mul(sum(x * x, {-1}, true), real{0.5}); };
  const Tensor distances =
      dot_products(q, k) - half_squares(q) - transpose(half_squares(k), -1, -2);
  return mul(distances, static_cast<real>(1 / (layer.sigma() * layer.sigma())));
}

}  // namespace

const SimilarityRule similarities::gaussian = {
    .name = "gaussian", .is_exponential = true, .scores = gaussian_scores};

}  // namespace heed::inline HEED_REAL
