// Token ids to vectors: row ids[…] of a table.
#pragma once

#include "core/ids.h"
#include "nn/module.h"

namespace heed::inline HEED_REAL {

class Embedding : public Module {
 public:
  // Starts as N(0, std²).
  Embedding(int64_t vocabulary, int64_t dim, double std);
  // ids (…), each in [0, vocabulary) → (…, dim)
  Tensor operator()(const Ids& ids) const;

  Tensor weight;  // (vocabulary, dim)
};

}  // namespace heed::inline HEED_REAL
