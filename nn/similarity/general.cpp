#include "core/ops.h"
#include "nn/similarity.h"

namespace heed::inline HEED_REAL {

// qᵀ W k, with W (H, Kq, Kk)
const SimilarityRule similarities::general = {
    .name = "general",
    .any_widths = true,
    .weight_shape =
        [](int64_t heads, int64_t query_width, int64_t key_width) {
          return Shape{heads, query_width, key_width};
        },
    .scores = [](const Similarity& layer, const Tensor& q,
                 const Tensor& k) { return dot_products(matmul(q, layer.weight), k); }};

}  // namespace heed::inline HEED_REAL
