// Defines nn/norm.h.
#include "nn/norm.h"

#include "core/standard_ops.h"
#include "nn/init.h"
#include "nn/tap.h"

namespace heed::inline HEED_REAL {

Norm::Norm(int64_t dim, const NormOptions& options)
    : weight(this, "weight",
             options.kind != NormKind::none ? constant_parameter({dim}, 1) : Tensor()),
      bias(this, "bias",
           options.kind == NormKind::layer && options.bias ? constant_parameter({dim}, 0)
                                                           : Tensor()),
      kind_(options.kind),
      epsilon_(static_cast<real>(options.epsilon)) {
  options.validate();
}

Tensor Norm::operator()(const Tensor& x) const {
  const ModuleScope here(*this);
  Tensor y = kind_ == NormKind::none ? x : replaced(x);
  if (!y)
    y = kind_ == NormKind::layer ? layer_norm(x, weight, bias, epsilon_)
                                 : rms_norm(x, weight, epsilon_);
  return tapped(*this, Site::normalised, std::move(y));
}

}  // namespace heed::inline HEED_REAL
