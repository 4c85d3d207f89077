#include "nn/forms/convolution.h"

#include "core/fields.h"
#include "core/ops.h"
#include "core/scope.h"

namespace heed::inline HEED_REAL {
namespace {

// A position modulo `length`, also if it is negative.
int64_t wrapped(int64_t position, int64_t length) {
  const int64_t rest = position % length;  // C++ rounds towards 0
  return rest < 0 ? rest + length : rest;
}

void check_kernel(int64_t size, Padding padding, bool causal) {
  check_range("convolution", "kernel_size", size, at_least(1));
  check_input(!causal || padding == Padding::zero,
              "`padding` = \"circular\" lets the first position read the last, which a "
              "decoder must not: set `padding` = \"zero\"");
  check_input(
      causal || size % 2 == 1,
      "`kernel_size` = {} must be odd: a convolution reads as many positions before as after",
      size);
}

}  // namespace

Convolution::Convolution(int64_t dim, int64_t kernel_size, Padding padding, bool causal,
                         const LinearOptions& options)
    : weight(this, "weight",
             (check_kernel(kernel_size, padding, causal),
              initial_weight({dim, kernel_size * dim}, options.init, options.residual_depth))),
      bias(this, "bias", options.bias ? constant_parameter({dim}, 0) : Tensor()),
      kernel_size_(kernel_size),
      padding_(padding),
      causal_(causal) {}

Convolution::Neighbours Convolution::neighbours(int64_t batch, int64_t time,
                                                const Ids& lengths) const {
  const bool circular = padding_ == Padding::circular;
  Neighbours found{Ids::empty({batch, time, kernel_size_}), {}};
  if (!circular) found.outside = Ids::empty({batch, time, kernel_size_, 1});
  if (scope().shapes_only) return found;
  int32_t *row = found.rows.mutable_data(), *outside = found.outside.mutable_data();
  const int64_t first = causal_ ? 1 - kernel_size_ : (1 - kernel_size_) / 2;  // relative to t
  for (int64_t b = 0; b < batch; ++b) {
    const int64_t length = lengths ? lengths[b] : time;
    for (int64_t t = 0; t < time; ++t)
      for (int64_t j = 0; j < kernel_size_; ++j) {
        int64_t position = t + first + j;
        if (circular)  // padding is not on the ring: it reads itself
          position = t < length ? wrapped(position, length) : t;
        const bool inside = position >= 0 && position < length;
        if (!circular) *outside++ = !inside;
        *row++ = static_cast<int32_t>(b * time + (circular || inside ? position : t));
      }
  }
  return found;
}

Tensor Convolution::operator()(const Tensor& x, const SequenceContext& sequence) const {
  const ModuleScope here(*this);
  const int64_t dim = weight.dim(0);
  const KeepMask& mask = sequence.mask;
  check_mixing_input("convolution", "its kernel decides which positions are read", true, x, dim,
                     mask);
  check(causal_ || !mask.causal,
        "convolution: a causal mask needs a causal convolution; this one reads later positions");
  const int64_t batch = x.dim(0), time = x.dim(1);
  mask.check_fits("convolution", batch, 1, time, time);
  if (kernel_size_ == 1) return linear(x, weight, bias);

  const Neighbours found = neighbours(batch, time, mask.key_lengths);
  Tensor read = embedding(x.reshape({batch * time, dim}), found.rows);  // (B, T, k, D)
  if (found.outside) read = masked_fill(read, found.outside, 0);
  return linear(read.reshape({batch, time, kernel_size_ * dim}), weight, bias);
}

const MixingRule mixings::convolution = {
    .name = "convolution",
    .can_be_causal = true,
    .make = [](const ModelOptions& o, const LinearOptions& linear) -> std::unique_ptr<Mixing> {
      return std::make_unique<Convolution>(o.dim, o.mixing.kernel_size, o.mixing.padding,
                                           o.attention.causal, linear);
    },
    .validate =
        [](const ModelOptions& o) {
          check_kernel(o.mixing.kernel_size, o.mixing.padding, o.attention.causal);
        }};

}  // namespace heed::inline HEED_REAL
