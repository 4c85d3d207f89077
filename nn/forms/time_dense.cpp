#include "nn/forms/time_dense.h"

#include "core/ops.h"
#include "core/parallel_for.h"

namespace heed::inline HEED_REAL {
namespace {

// x (B, T, D) with zeros at padding.
Tensor without_padding(const Tensor& x, const Ids& lengths) {
  const int64_t batch = x.dim(0), time = x.dim(1);
  Ids padding = Ids::empty({batch, time, 1});
  int32_t* to = padding.mutable_data();
  parallel_for(batch, chunk_rows(time), [&](int64_t first, int64_t last) {
    for (int64_t b = first; b < last; ++b)
      for (int64_t t = 0; t < time; ++t) to[b * time + t] = t >= lengths[b];
  });
  return masked_fill(x, padding, 0);
}

}  // namespace

TimeDense::TimeDense(int64_t dim, int64_t length, const LinearOptions& options)
    : weight(this, "weight", initial_weight({length, length}, options.init)),
      value_(this, "value", dim, dim, options.inside()),
      output_(this, "output", dim, dim, options) {}

Tensor TimeDense::operator()(const Tensor& x, const SequenceContext& sequence) const {
  const ModuleScope here(*this);
  const int64_t dim = value_.weight.dim(0), length = weight.dim(0);
  const KeepMask& mask = sequence.mask;
  check_mixing_input("dense over time", "every position reads every other", false, x, dim, mask);
  const int64_t batch = x.dim(0), time = x.dim(1);
  check(time <= length,
        "dense over time: a sequence of {} positions exceeds the length {}; raise "
        "`length`",
        time, length);
  mask.check_fits("dense over time", batch, 1, time, time);

  Tensor value = value_(x);
  if (mask.key_lengths) value = without_padding(value, mask.key_lengths);
  const Tensor rows = time < length ? slice(weight, 0, 0, time) : Tensor(weight);
  const Tensor w = time < length ? slice(rows, 1, 0, time) : rows;  // (T, T)
  return output_(matmul(w, value));
}

const MixingRule mixings::dense = {
    .name = "dense",
    .make = [](const ModelOptions& o, const LinearOptions& linear) -> std::unique_ptr<Mixing> {
      return std::make_unique<TimeDense>(o.dim, o.mixing.length, linear);
    }};

}  // namespace heed::inline HEED_REAL
