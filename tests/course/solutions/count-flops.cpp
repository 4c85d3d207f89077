#include "nn/models.h"

namespace heed::course {

// The FLOPs of matrix products in a forward pass of a decoder-only model of this config, from
// `batch` sequences of `time` tokens to their logits. A multiplication and an addition are 2 FLOPs.
double count_flops(const ModelOptions& model, int64_t vocabulary, int64_t batch, int64_t time) {
  const double logits = 2.0 * static_cast<double>(batch * time * model.dim * vocabulary);
  const int64_t key_dim =
      model.attention.key_dim > 0 ? model.attention.key_dim : model.dim / model.heads;
  const int64_t value_dim = model.attention.value_dim > 0 ? model.attention.value_dim : key_dim;
  const int64_t hidden = model.feed_forward > 0 ? model.feed_forward : 4 * model.dim;
  const int64_t keys = model.heads * key_dim, values = model.heads * value_dim;
  const int64_t projections = 2 * model.dim * (2 * keys + 2 * values);
  const int64_t attention = 2 * time * (keys + values);
  const int64_t feed_forward = 2 * 2 * model.dim * hidden;
  return logits + static_cast<double>(batch * time * model.layers *
                                      (projections + attention + feed_forward));
}

}  // namespace heed::course
