#include "core/kernels/attention/attention.h"

#include <cmath>

#include "core/autograd.h"
#include "core/kernels/kept/kept.h"
#include "core/more_ops.h"

namespace heed::inline HEED_REAL {

Tensor fused::attention(const Tensor& q, const Tensor& k, const Tensor& v, int64_t heads,
                        const AttentionOptions& options) {
  const kernels::AttentionSizes n{.batch = q.dim(0),
                                  .heads = heads,
                                  .queries = q.dim(1),
                                  .keys = options.keys > 0 ? options.keys : k.dim(1),
                                  .width = q.dim(2) / heads,
                                  .value_width = v.dim(2) / heads,
                                  .capacity = k.dim(1)};
  kernels::AttentionSettings settings;
  settings.mask = options.mask;
  settings.precision = scope().precision;
  settings.scale =
      static_cast<real>(options.scale.value_or(1 / std::sqrt(static_cast<double>(n.width))));
  settings.dropout = scope().training ? options.dropout : 0;
  if (settings.dropout > 0) settings.dropout_key = scope().next_stream(Purpose::dropout);

  Tensor o = Tensor::empty({n.batch, n.queries, heads * n.value_width});
  Tensor log_sum = Tensor::empty({n.batch, heads, n.queries});
  kernels::attention_forward(n, settings, {q.data(), k.data(), v.data()}, o.mutable_data(),
                             log_sum.mutable_data());
  return record(
      "scaled_dot_product_attention", o, {q, k, v},
      [n, settings = Unchanged(settings), kept = kernels::KeptQueryKeyValue(n, settings, q, k, v),
       os = saved(o, q, k, v), log_sums = saved(log_sum, q, k, v)](Backward& g) {
        kernels::attention_backward(n, *settings, kept.get(), {os.data(), log_sums.data(), g.dy()},
                                    {g.into_or_null(0),    // dq += ds · k
                                     g.into_or_null(1),    // dk += dsᵀ · q
                                     g.into_or_null(2)});  // dv += pᵀ · do
      });
}

}  // namespace heed::inline HEED_REAL
