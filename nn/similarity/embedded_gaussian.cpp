#include "nn/similarity.h"

namespace heed::inline HEED_REAL {

const SimilarityRule similarities::embedded_gaussian = {
    .name = "embedded_gaussian",
    .is_dot_product = true,
    .is_product = true,
    .is_exponential = true,
    .scores = [](const Similarity&, const Tensor& q, const Tensor& k) {
      return dot_products(q, k);
    }};

}  // namespace heed::inline HEED_REAL
