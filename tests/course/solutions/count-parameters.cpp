#include "nn/models.h"

namespace heed::course {

// How many parameters a decoder-only model of this config has.
int64_t count_parameters(const ModelOptions& model, int64_t vocabulary) {
  const int64_t embedding = vocabulary * model.dim;
  const int64_t key_dim =
      model.attention.key_dim > 0 ? model.attention.key_dim : model.dim / model.heads;
  const int64_t value_dim = model.attention.value_dim > 0 ? model.attention.value_dim : key_dim;
  const int64_t hidden = model.feed_forward > 0 ? model.feed_forward : 4 * model.dim;
  const auto linear = [&](int64_t inputs, int64_t outputs) {
    return inputs * outputs + (model.bias ? outputs : 0);
  };
  const int64_t norm = model.dim + (model.bias ? model.dim : 0);
  const int64_t keys = model.heads * key_dim, values = model.heads * value_dim;
  const int64_t attention =
      2 * linear(model.dim, keys) + linear(model.dim, values) + linear(values, model.dim);
  const int64_t feed_forward = linear(model.dim, hidden) + linear(hidden, model.dim);
  return (model.tie_weights ? 1 : 2) * embedding + model.positional.max_length * model.dim +
         model.layers * (2 * norm + attention + feed_forward) + norm;
}

}  // namespace heed::course
