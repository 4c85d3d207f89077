#include "nn/similarity.h"

namespace heed::inline HEED_REAL {

const SimilarityRule similarities::dot = {
    .name = "dot",
    .is_dot_product = true,
    .is_product = true,
    .scores = [](const Similarity&, const Tensor& q, const Tensor& k) {
      return dot_products(q, k);
    }};

}  // namespace heed::inline HEED_REAL
