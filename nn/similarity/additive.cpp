#include "core/ops.h"
#include "nn/similarity.h"

namespace heed::inline HEED_REAL {
namespace {

// Σₖ v[k] tanh(q + k)[k] for every pair of a query and a key, with v (H, 1, K). Keeps an array of
// (B, H, Tq, Tk, K) for backward.
Tensor additive_scores(const Similarity& layer, const Tensor& q, const Tensor& k) {
  const int64_t batch = q.dim(0), heads = q.dim(1), queries = q.dim(2), keys = k.dim(2);
  const int64_t width = q.dim(3);
  const Tensor hidden = tanh(q.reshape({batch, heads, queries, 1, width}) +
                             k.reshape({batch, heads, 1, keys, width}));
  const Tensor scores = matmul(hidden.reshape({batch, heads, queries * keys, width}),
                               layer.weight.reshape({heads, width, 1}));
  return scores.reshape({batch, heads, queries, keys});
}

}  // namespace

const SimilarityRule similarities::additive = {.name = "additive",
                                               .weight_shape =
                                                   [](int64_t heads, int64_t, int64_t width) {
                                                     return Shape{heads, 1, width};
                                                   },
                                               .scores = additive_scores};

}  // namespace heed::inline HEED_REAL
