// In training, sets random elements to zero, and scales the others so that the mean stays.
#include "core/autograd.h"
#include "core/kernels/kernels.h"
#include "core/standard_ops.h"

namespace heed::inline HEED_REAL {

// y = x · mask / (1 - p), mask = 0 with probability p, else 1
Tensor dropout(const Tensor& x, double probability) {
  check(probability >= 0 && probability < 1, "dropout: the probability must be in [0, 1), got {}",
        probability);
  if (!scope().training || probability == 0) return x;
  const StreamKey stream = scope().next_stream(Purpose::dropout);
  Tensor y = Tensor::empty(x.shape());
  kernels::dropout(x.size(), stream, probability, x.data(), {y.mutable_data(), false});
  return record("dropout", y, {x}, [stream, probability](Backward& g) {
    kernels::dropout(g.size(), stream, probability, g.dy(),
                     g.into(0));  // dx += dy · mask / (1 - p)
  });
}

}  // namespace heed::inline HEED_REAL
