// Initial weights, of the size that keeps the variance of a signal from layer to layer. Each weight
// draws from its own random stream of the scope, so what a seed means depends only on the order in
// which layers are made.
#pragma once

#include "core/tensor.h"

namespace heed::inline HEED_REAL {

// clang-format off
// The distribution of initial weights.
enum class InitKind {
  xavier_uniform,   // U(±gain √(6 / (fan_in + fan_out)))   (Glorot & Bengio 2010)
  xavier_normal,    // N(0, gain² · 2 / (fan_in + fan_out))
  kaiming_uniform,  // U(±gain √(6 / fan_in)), for relu     (He et al. 2015)
  kaiming_normal,   // N(0, gain² · 2 / fan_in)
  normal,           // N(0, std²)
  gpt2,             // N(0, std²), and std / √residual_depth for a layer that joins the residual
                    // stream                               (Radford et al. 2019, section 2.3)
};
// clang-format on

struct InitOptions {
  InitKind kind = InitKind::xavier_uniform;
  double gain = 1;    // of the xavier and kaiming kinds
  double std = 0.02;  // of the others

  void fields(Fields& f);  // visits each, for a config
  void validate() const;   // throws InputError for values out of range
};

// A parameter (fan_out, fan_in), or (…, fan_out, fan_in): matrices of one distribution.
// `residual_depth`, for gpt2: how many sublayers are added to the residual stream (nn/block.h), and
// to its variance; 0 if the layer of this weight is not one of them. Throws InputError for values
// out of range.
Tensor initial_weight(const Shape& shape, const InitOptions& init = {}, int64_t residual_depth = 0);
Tensor normal_parameter(const Shape& shape, double std);    // a parameter of N(0, std²)
Tensor constant_parameter(const Shape& shape, real value);  // a parameter of one value

}  // namespace heed::inline HEED_REAL
