// Scaled dot-product attention (Vaswani et al. 2017, "Attention is all you need", equation 1).
#include "core/autograd.h"
#include "core/more_ops.h"

namespace heed::inline HEED_REAL {

// o[b, i, h, :] = Σⱼ softmaxⱼ(scale · q[b, i, h, :] · k[b, j, h, :]) v[b, j, h, :]
Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    int64_t heads, const AttentionOptions& options) {
  const char* name = "scaled_dot_product_attention";
  check(q.rank() == 3 && k.rank() == 3 && v.rank() == 3,
        "{}: q, k and v must be (batch, time, heads · width), got {}, {} and {}", name, q.shape(),
        k.shape(), v.shape());
  check(
      q.dim(0) == k.dim(0) && k.dim(0) == v.dim(0) && k.dim(1) == v.dim(1) && q.dim(2) == k.dim(2),
      "{}: q {}, k {} and v {} must agree in batch, k and v in time, q and k in width", name,
      q.shape(), k.shape(), v.shape());
  check(heads >= 1 && q.dim(2) % heads == 0 && v.dim(2) % heads == 0,
        "{}: {} heads do not divide the width {} of q and k and the width {} of v", name, heads,
        q.dim(2), v.dim(2));
  check(options.keys >= 0 && options.keys <= k.dim(1), "{}: {} keys, but k has {} positions", name,
        options.keys, k.dim(1));
  check(options.keys == 0 || !(wants_gradient(q) || wants_gradient(k) || wants_gradient(v)),
        "{}: not differentiable if only the first keys of k and v are used", name);
  options.mask.check_fits(name, q.dim(0), heads, q.dim(1),
                          options.keys > 0 ? options.keys : k.dim(1));
  check(options.dropout >= 0 && options.dropout < 1, "{}: dropout must be in [0, 1), got {}", name,
        options.dropout);
  return fused::attention(q, k, v, heads, options);
}

}  // namespace heed::inline HEED_REAL
