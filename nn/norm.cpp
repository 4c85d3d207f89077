#include "nn/norm.h"

#include "core/ops.h"
#include "nn/init.h"
#include "nn/module_scope.h"

namespace heed::inline HEED_REAL {

void NormOptions::fields(Fields& f) {
  static constexpr Named<NormKind> kinds[] = {{"layer", NormKind::layer}, {"rms", NormKind::rms}};
  f.choice("norm", kind, kinds, "LayerNorm or RMSNorm");
  f.number("norm_epsilon", epsilon, {1e-12, 1}, "constant added to the variance");
}

Norm::Norm(int64_t dim, const NormOptions& options)
    : weight(constant_parameter({dim}, 1)),
      bias(options.kind == NormKind::layer && options.bias ? constant_parameter({dim}, 0)
                                                           : Tensor()),
      kind_(options.kind),
      epsilon_(static_cast<real>(options.epsilon)) {
  check_fields(options, "norm");
  add("weight", weight);
  add("bias", bias);
}

Tensor Norm::operator()(const Tensor& x) const {
  const ModuleScope here(*this);
  return kind_ == NormKind::layer ? layer_norm(x, weight, bias, epsilon_)
                                  : rms_norm(x, weight, epsilon_);
}

}  // namespace heed::inline HEED_REAL
