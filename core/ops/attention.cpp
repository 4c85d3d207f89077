// Scaled dot-product attention.
#include "core/kernels/attention/attention.h"

#include <cmath>

#include "core/autograd.h"
#include "core/ops/kept_inputs.h"
#include "core/standard_ops.h"

namespace heed::inline HEED_REAL {
namespace {

kernels::AttentionSizes checked_sizes(const Tensor& q, const Tensor& k, const Tensor& v,
                                      int64_t heads, int64_t keys) {
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
  check(keys >= 0 && keys <= k.dim(1), "{}: {} keys, but k has {} positions", name, keys, k.dim(1));
  check(keys == 0 || !(wants_gradient(q) || wants_gradient(k) || wants_gradient(v)),
        "{}: not differentiable if only the first keys of k and v are used", name);
  return {.batch = q.dim(0),
          .heads = heads,
          .queries = q.dim(1),
          .keys = keys > 0 ? keys : k.dim(1),
          .width = q.dim(2) / heads,
          .value_width = v.dim(2) / heads,
          .capacity = k.dim(1)};
}

}  // namespace

// o[b, i, h, :] = Σⱼ softmaxⱼ(scale · q[b, i, h, :] · k[b, j, h, :]) v[b, j, h, :]
Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    int64_t heads, const AttentionOptions& options) {
  const kernels::AttentionSizes n = checked_sizes(q, k, v, heads, options.keys);
  options.mask.check_fits("scaled_dot_product_attention", n.batch, heads, n.queries, n.keys);
  check(options.dropout >= 0 && options.dropout < 1,
        "scaled_dot_product_attention: dropout must be in [0, 1), got {}", options.dropout);
  kernels::AttentionSettings settings;
  settings.mask = options.mask;
  settings.precision = scope().precision;
  settings.scale = static_cast<real>(
      options.scale != 0 ? options.scale : 1 / std::sqrt(static_cast<double>(n.width)));
  settings.dropout = scope().training ? options.dropout : 0;
  if (settings.dropout > 0) settings.dropout_key = scope().next_stream(Purpose::dropout);

  Tensor o = Tensor::empty({n.batch, n.queries, heads * n.value_width});
  Tensor log_sum = Tensor::empty({n.batch, heads, n.queries});
  kernels::attention_forward(n, settings, {q.data(), k.data(), v.data()}, o.mutable_data(),
                             log_sum.mutable_data());
  return record("scaled_dot_product_attention", o, {q, k, v},
                [n, settings, kept = KeptQueryKeyValue(n, settings, q, k, v),
                 os = saved(o, q, k, v), log_sums = saved(log_sum, q, k, v)](Backward& g) {
                  kernels::attention_backward(n, settings, kept.get(),
                                              {os.data(), log_sums.data(), g.dy()},
                                              {g.into_or_null(0),    // dq += ds · k
                                               g.into_or_null(1),    // dk += dsᵀ · q
                                               g.into_or_null(2)});  // dv += pᵀ · do
                });
}

}  // namespace heed::inline HEED_REAL
