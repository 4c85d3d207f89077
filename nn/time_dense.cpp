#include "nn/time_dense.h"

#include "core/ops.h"
#include "core/parallel.h"
#include "nn/current_part.h"

namespace heed::inline HEED_REAL {

TimeDense::TimeDense(int64_t dim, int64_t length, const LinearOptions& options)
    : weight(initial_weight({length, length}, options.init)),
      value_(dim, dim, options.inside()),
      output_(dim, dim, options) {
  add("weight", weight);
  add("value", value_);
  add("output", output_);
}

namespace {

// x (B, T, D) with zeros behind the lengths.
Tensor only_real(const Tensor& x, const Ids& lengths) {
  const int64_t batch = x.dim(0), time = x.dim(1);
  Ids behind = Ids::empty({batch, time, 1});
  int32_t* to = behind.data();
  parallel_for(batch, chunk_rows(time), [&](int64_t first, int64_t last) {
    for (int64_t b = first; b < last; ++b)
      for (int64_t t = 0; t < time; ++t) to[b * time + t] = t >= lengths[b];
  });
  return masked_fill(x, behind, 0);
}

}  // namespace

Tensor TimeDense::operator()(const Tensor& x, const SequenceContext& around) const {
  const CurrentPart here(*this);
  const int64_t dim = value_.weight.dim(0), length = weight.dim(0);
  check(x.rank() == 3 && x.dim(2) == dim, "dense over time: x must have shape [B, T, {}], has {}",
        dim, x.shape());
  const int64_t batch = x.dim(0), time = x.dim(1);
  check(time <= length,
        "dense over time: a sequence of {} places, and weights for {}; set model.block.length",
        time, length);
  const KeepMask& mask = around.mask;
  check(!mask.causal && mask.window == 0 && !mask.dense,
        "dense over time: every place sees every other; a causal mask, a window or a dense mask "
        "cannot be kept to");
  mask.check_fits("dense over time", batch, 1, time, time);

  Tensor value = value_(x);
  if (mask.key_lengths) value = only_real(value, mask.key_lengths);
  const Tensor rows = time < length ? slice(weight, 0, 0, time) : weight;
  const Tensor w = time < length ? slice(rows, 1, 0, time) : rows;  // (T, T)
  return output_(matmul(w, value));
}

}  // namespace heed::inline HEED_REAL
