#include <cmath>

#include "core/ops.h"
#include "nn/similarity.h"

namespace heed::inline HEED_REAL {
namespace {

// x / ‖x‖, and 0 for 0. ‖x‖ = √K √mean(x²).
Tensor unit(const Tensor& x) {
  constexpr real tiny = 1e-12;  // added to the mean square: lengths below 1e-6 √K count as zero
  return mul(rms_norm(x, {}, tiny), 1 / std::sqrt(static_cast<real>(x.dim(-1))));
}

}  // namespace

const SimilarityRule similarities::cosine = {
    .name = "cosine",
    .is_product = true,
    .scores = [](const Similarity&, const Tensor& q, const Tensor& k) {
      return dot_products(unit(q), unit(k));
    }};

}  // namespace heed::inline HEED_REAL
