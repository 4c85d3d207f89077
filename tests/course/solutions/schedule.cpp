#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace heed::course {

// The learning rate of step 1, 2, …: up to `peak` in a straight line over `warmup_steps` steps,
// then down along a cosine to `min_lr`, which step `steps` and all later ones have.
double learning_rate(int64_t step, double peak, int64_t warmup_steps, int64_t steps,
                     double min_lr) {
  const auto t = static_cast<double>(step), w = static_cast<double>(warmup_steps);
  if (step < warmup_steps) return peak * t / w;
  const double progress = std::min(1.0, (t - w) / (static_cast<double>(steps) - w));
  return min_lr + (peak - min_lr) * (1 + std::cos(std::numbers::pi * progress)) / 2;
}

}  // namespace heed::course
