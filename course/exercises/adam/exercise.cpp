// Adam and AdamW: write the function below. It replaces the library's. The task is in
// course/exercises/adam/task.md; check it with
//
//   ./heed course check adam
#include <cmath>

#include "optim/kernels/kernels.h"

namespace heed::inline HEED_REAL::kernels {

// Step r.step (1, 2, …) of Adam, or of AdamW, on r.size parameters w. m and v are zeros before the
// first step, and keep what you write into them.
void adam_step(const UpdateRange& r) {
  const bool decoupled = r.options.kind == &optimizers::adamw;  // AdamW
  real *const w = r.parameters, *const m = r.state[0], *const v = r.state[1];
  for (int64_t i = 0; i < r.size; ++i) {
    const double gradient = r.gradient_scale * r.gradients[i];
    // Write this, with r.lr, r.step, r.weight_decay, r.options.beta1, beta2 and epsilon.
    (void)gradient, (void)decoupled, (void)w, (void)m, (void)v;
  }
}

}  // namespace heed::inline HEED_REAL::kernels
