// Defines nn/embedding.h.
#include "nn/embedding.h"

#include "core/standard_ops.h"
#include "nn/init.h"

namespace heed::inline HEED_REAL {

Embedding::Embedding(int64_t vocabulary, int64_t dim, double std)
    : weight(this, "weight", normal_parameter({vocabulary, dim}, std)) {}

Tensor Embedding::operator()(const Ids& ids) const {
  const ModuleScope here(*this);
  return embedding(weight, ids);
}

}  // namespace heed::inline HEED_REAL
