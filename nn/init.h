// Initial values of weights, by name. Each weight draws from its own random stream of the scope, so
// what a seed means depends on the order in which layers are made and on nothing else.
#pragma once

#include "core/fields.h"
#include "core/tensor.h"

namespace heed::inline HEED_REAL {

enum class InitKind {
  xavier_uniform,   // U(±gain √(6 / (fan_in + fan_out)))   (Glorot & Bengio 2010)
  xavier_normal,    // N(0, gain² · 2 / (fan_in + fan_out))
  kaiming_uniform,  // U(±gain √(6 / fan_in)), for relu     (He et al. 2015)
  kaiming_normal,   // N(0, gain² · 2 / fan_in)
  normal,           // N(0, std²)
  gpt2,  // N(0, std²), and std / √(2 · layers) where a result joins the residual stream
         // (Radford et al. 2019, section 2.3)
};

struct InitOptions {
  InitKind kind = InitKind::xavier_uniform;
  double gain = 1;
  double std = 0.02;

  void fields(Fields& f);
};

// A weight (fan_out, fan_in) that wants a gradient, or (…, fan_out, fan_in), matrices that start
// alike. `residual_depth`, with gpt2: how many results
// join the residual stream; 0 if this weight's does not.
Tensor initial_weight(const Shape& shape, const InitOptions& init, int64_t residual_depth = 0);
// A parameter of N(0, std²), or of one value.
Tensor normal_parameter(const Shape& shape, double std);
Tensor constant_parameter(const Shape& shape, real value);

}  // namespace heed::inline HEED_REAL
