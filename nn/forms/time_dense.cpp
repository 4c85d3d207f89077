#include "nn/forms/time_dense.h"

#include "core/ops.h"
#include "core/parallel_for.h"

namespace heed::inline HEED_REAL {
namespace {

// Returns T, after checks.
int64_t checked_time(const Tensor& x, int64_t dim, int64_t length, const KeepMask& mask) {
  check_mixing_input("dense over time", "every position reads every other", false, x, dim, mask);
  const int64_t time = x.dim(1);
  check(time <= length,
        "dense over time: a sequence of {} positions exceeds the length {}; raise "
        "`length`",
        time, length);
  mask.check_fits("dense over time", x.dim(0), 1, time, time);
  return time;
}

void check_full(int64_t dim, int64_t length) {
  constexpr int64_t most = int64_t{1} << 31;
  check_input(length <= most / dim && length * dim <= most / (length * dim),
              "`full_matrix` = true with `length` = {} and `dim` = {} needs (length · dim)² "
              "weights, more than 2³¹; use a smaller `length`",
              length, dim);
}

// w[0 … n-1, 0 … n-1] of a square matrix
Tensor first_rows_and_columns(const Tensor& w, int64_t n) {
  return n < w.dim(0) ? slice(slice(w, 0, 0, n), 1, 0, n) : w;
}

// x (B, T, D) with zeros at padding.
Tensor without_padding(const Tensor& x, const Ids& lengths) {
  if (!lengths) return x;
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
  const int64_t time = checked_time(x, value_.weight.dim(0), weight.dim(0), sequence.mask);
  const Tensor value = without_padding(value_(x), sequence.mask.key_lengths);
  return output_(matmul(first_rows_and_columns(weight, time), value));  // weights (T, T)
}

FullDense::FullDense(int64_t dim, int64_t length, const LinearOptions& options)
    : dim_(dim),
      length_(length),
      matrix_(this, "matrix", (check_full(dim, length), length * dim), length * dim, options) {}

Tensor FullDense::operator()(const Tensor& x, const SequenceContext& sequence) const {
  const ModuleScope here(*this);
  const int64_t time = checked_time(x, dim_, length_, sequence.mask);
  const Tensor all = without_padding(x, sequence.mask.key_lengths);
  const Tensor weight = first_rows_and_columns(matrix_.weight, time * dim_);
  const Tensor bias = matrix_.bias && time < length_ ? slice(matrix_.bias, 0, 0, time * dim_)
                                                     : Tensor(matrix_.bias);
  return linear(all.reshape({x.dim(0), time * dim_}), weight, bias).reshape(x.shape());
}

const MixingRule mixings::dense = {
    .name = "dense",
    .make = [](const ModelOptions& o, const LinearOptions& linear) -> std::unique_ptr<Mixing> {
      if (o.mixing.full_matrix) return std::make_unique<FullDense>(o.dim, o.mixing.length, linear);
      return std::make_unique<TimeDense>(o.dim, o.mixing.length, linear);
    },
    .validate =
        [](const ModelOptions& o) {
          if (o.mixing.full_matrix) check_full(o.dim, o.mixing.length);
        }};

}  // namespace heed::inline HEED_REAL
