#include "core/ops.h"
#include "nn/similarity.h"

namespace heed::inline HEED_REAL {
namespace {

// v₁·q + v₂·k, with v = [v₁; v₂] of (H, 1, Kq + Kk)
Tensor concat_scores(const Similarity& layer, const Tensor& q, const Tensor& k) {
  const Tensor& v = layer.weight;
  const int64_t heads = v.dim(0), query_width = q.dim(3), width = v.dim(2);
  const Tensor v1 = slice(v, 2, 0, query_width).reshape({heads, query_width, 1});
  const Tensor v2 = slice(v, 2, query_width, width).reshape({heads, width - query_width, 1});
  return matmul(q, v1) + transpose(matmul(k, v2), -1, -2);
}

}  // namespace

const SimilarityRule similarities::concat = {
    .name = "concat",
    .any_widths = true,
    .weight_shape =
        [](int64_t heads, int64_t query_width, int64_t key_width) {
          return Shape{heads, 1, query_width + key_width};
        },
    .scores = concat_scores};

}  // namespace heed::inline HEED_REAL
