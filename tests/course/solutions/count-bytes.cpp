#include <array>

#include "nn/models.h"
#include "optim/optimizer.h"

namespace heed::course {

// Bytes in float32 of a model with so many parameters, and of the keys and values that it caches
// while it generates: {weights, gradients, state of the optimizer, cache}.
std::array<int64_t, 4> count_bytes(const ModelOptions& model, const OptimOptions& optimizer,
                                   int64_t parameters, int64_t sequences, int64_t tokens) {
  check(model.layers > 0 && optimizer.kind != nullptr && sequences * tokens > 0,
        "count_bytes: nothing to count");
  const int64_t key_dim =
      model.attention.key_dim > 0 ? model.attention.key_dim : model.dim / model.heads;
  const int64_t value_dim = model.attention.value_dim > 0 ? model.attention.value_dim : key_dim;
  const int64_t arrays = optimizer.kind == &optimizers::sgd ? (optimizer.momentum > 0 ? 1 : 0)
                         : optimizer.amsgrad                ? 3
                                                            : 2;
  return {4 * parameters, 4 * parameters, 4 * arrays * parameters,
          4 * model.layers * sequences * tokens * model.heads * (key_dim + value_dim)};
}

}  // namespace heed::course
