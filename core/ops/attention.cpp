// Scaled dot-product attention; the loops are in kernels/attention_forward.cpp and
// attention_backward.cpp.
#include "core/kernels/attention.h"

#include <cmath>

#include "core/autograd.h"
#include "core/ops.h"
#include "core/parallel.h"

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
  check(keys >= 0 && keys <= k.dim(1), "{}: {} keys of {} places", name, keys, k.dim(1));
  check(keys == 0 || !(wants_gradient(q) || wants_gradient(k) || wants_gradient(v)),
        "{}: there is no gradient where k and v have room to spare", name);
  return {.batch = q.dim(0),
          .heads = heads,
          .queries = q.dim(1),
          .keys = keys > 0 ? keys : k.dim(1),
          .width = q.dim(2) / heads,
          .value_width = v.dim(2) / heads,
          .capacity = k.dim(1)};
}

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    int64_t heads, const AttentionOptions& options) {
  const kernels::AttentionSizes n = checked_sizes(q, k, v, heads, options.keys);
  options.mask.check_fits("scaled_dot_product_attention", n.batch, heads, n.queries, n.keys);
  check(options.dropout >= 0 && options.dropout < 1,
        "scaled_dot_product_attention: dropout must be in [0, 1), got {}", options.dropout);
  kernels::AttentionSetting setting;
  setting.mask = options.mask;
  setting.precision = scope().precision;
  setting.scale = static_cast<real>(
      options.scale != 0 ? options.scale : 1 / std::sqrt(static_cast<double>(n.width)));
  setting.dropout = scope().training ? options.dropout : 0;
  if (setting.dropout > 0) setting.dropout_key = scope().next_stream(Purpose::dropout);

  Tensor y = Tensor::empty({n.batch, n.queries, heads * n.value_width});
  Tensor log_sum = Tensor::empty({n.batch, heads, n.queries});
  {
    Tensor scratch = Tensor::empty({thread_count(), n.forward_scratch()});
    kernels::attention_forward(n, setting, q.data(), k.data(), v.data(), y.mutable_data(),
                               log_sum.mutable_data(), scratch.mutable_data());
  }
  return record("scaled_dot_product_attention", y, {q, k, v},
                [n, setting, qs = saved(q, q, k, v), ks = saved(k, q, k, v), vs = saved(v, q, k, v),
                 ys = saved(y, q, k, v), log_sums = saved(log_sum, q, k, v)](Backward& g) {
                  const auto place = [&](int i) {
                    return g.wants(i) ? g.into(i) : Destination{nullptr, false};
                  };
                  const Destination dq = place(0), dk = place(1), dv = place(2);
                  Tensor scratch = Tensor::empty({thread_count(), n.backward_scratch()});
                  kernels::attention_backward(n, setting, qs.data(), ks.data(), vs.data(),
                                              ys.data(), log_sums.data(), g.dy(), dq, dk, dv,
                                              scratch.mutable_data());
                });
}

}  // namespace heed::inline HEED_REAL
