#include <cmath>
#include <vector>

#include "core/tensor.h"

namespace heed::course {

// If the norm of all gradients together exceeds `limit`, multiplies each by limit / norm. Returns
// the norm before.
double clip_gradients(std::vector<Tensor>& gradients, double limit) {
  double sum = 0;
  for (const Tensor& gradient : gradients)
    for (int64_t i = 0; i < gradient.size(); ++i) sum += gradient.data()[i] * gradient.data()[i];
  const double norm = std::sqrt(sum);
  if (!std::isfinite(norm) || limit == 0 || norm <= limit) return norm;
  for (Tensor& gradient : gradients)
    for (int64_t i = 0; i < gradient.size(); ++i) gradient.mutable_data()[i] *= limit / norm;
  return norm;
}

}  // namespace heed::course
