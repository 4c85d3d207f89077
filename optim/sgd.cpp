#include "optim/sgd.h"

namespace heed::inline HEED_REAL {
namespace {

struct Rule {
  real lr, scale, decay, momentum;
  bool nesterov;
};

// w, g: n numbers
void descend(int64_t n, Rule rule, const real* g, real* w) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) w[i] -= rule.lr * (rule.scale * g[i] + rule.decay * w[i]);
}

// w, g, b: n numbers
void descend(int64_t n, Rule rule, const real* g, real* w, real* b) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const real gradient = rule.scale * g[i] + rule.decay * w[i];
    const real buffer = rule.momentum * b[i] + gradient;
    b[i] = buffer;
    w[i] -= rule.lr * (rule.nesterov ? gradient + rule.momentum * buffer : buffer);
  }
}

}  // namespace

Sgd::Sgd(const OptimOptions& options, std::vector<NamedParameter> parameters)
    : Optimizer(options, std::move(parameters)) {
  if (options.momentum > 0) momentum_buffer_ = add_state("momentum_buffer");
}

void Sgd::update(double lr, double scale) {
  arena_.for_each_range([&](int64_t first, int64_t last, bool matrix) {
    const Rule rule{
        .lr = static_cast<real>(lr),
        .scale = static_cast<real>(scale),
        .decay = static_cast<real>(matrix ? options_.weight_decay : 0),
        .momentum = static_cast<real>(options_.momentum),
        .nesterov = options_.nesterov,
    };
    const real* g = arena_.gradients() + first;
    real* w = arena_.numbers() + first;
    if (momentum_buffer_) {
      descend(last - first, rule, g, w, momentum_buffer_ + first);
    } else {
      descend(last - first, rule, g, w);
    }
  });
}

}  // namespace heed::inline HEED_REAL
