// The FLOPs of a language model: write the function below. The task is in
// course/exercises/count-flops/task.md; check it with
//
//   ./heed course check count-flops
#include "nn/models.h"

namespace heed::course {

// The FLOPs of matrix products in a forward pass of a decoder-only model of this config, from
// `batch` sequences of `time` tokens to their logits. A multiplication and an addition are 2 FLOPs.
double count_flops(const ModelOptions& model, int64_t vocabulary, int64_t batch, int64_t time) {
  const double logits = 2.0 * static_cast<double>(batch * time * model.dim * vocabulary);
  // Write the rest.
  return logits;
}

}  // namespace heed::course
