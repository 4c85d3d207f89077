// Token to vector: y[n] = table[ids[n]], a row of a learned table (vocab, D).
#pragma once

#include "core/ids.h"
#include "nn/module.h"

namespace heed::inline HEED_REAL {

class Embedding : public Module {
 public:
  // The table starts as N(0, std²).
  Embedding(int64_t vocabulary, int64_t dim, double std = 1);
  // ids (…), each in [0, vocabulary) → (…, dim)
  Tensor operator()(const Ids& ids) const;

  Part<Tensor> weight;  // (vocabulary, dim)
};

}  // namespace heed::inline HEED_REAL
