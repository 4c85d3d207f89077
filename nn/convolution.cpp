#include "nn/convolution.h"

#include "core/ops.h"
#include "core/scope.h"
#include "nn/current_part.h"

namespace heed::inline HEED_REAL {
namespace {

// A place of a ring of `length`, however far beyond its ends.
int64_t around_the_ring(int64_t place, int64_t length) {
  const int64_t rest = place % length;  // C++ rounds towards 0
  return rest < 0 ? rest + length : rest;
}

}  // namespace

Convolution::Convolution(int64_t dim, int64_t kernel_size, Padding padding, bool causal,
                         const LinearOptions& options)
    : kernel_size_(kernel_size), padding_(padding), causal_(causal) {
  check(kernel_size >= 1 && (causal || kernel_size % 2 == 1),
        "convolution: a kernel of {} places has no middle; take an odd number, or a causal one",
        kernel_size);
  check(!causal || padding == Padding::zero,
        "convolution: circular padding lets the first place see the last, which a causal one may "
        "not: pad with zeros");
  weight = initial_weight({dim, kernel_size * dim}, options.init, options.residual_depth);
  if (options.bias) bias = constant_parameter({dim}, 0);
  add("weight", weight);
  add("bias", bias);
}

Convolution::Neighbours Convolution::neighbours(int64_t batch, int64_t time,
                                                const Ids& lengths) const {
  const bool is_ring = padding_ == Padding::circular;
  Neighbours found{Ids::empty({batch, time, kernel_size_}), {}};
  if (!is_ring) found.outside = Ids::empty({batch, time, kernel_size_, 1});
  if (scope().shapes_only) return found;
  int32_t *row = found.rows.data(), *outside = found.outside.data();
  const int64_t first = causal_ ? 1 - kernel_size_ : (1 - kernel_size_) / 2;  // its distance
  for (int64_t b = 0; b < batch; ++b) {
    const int64_t length = lengths ? lengths[b] : time;
    for (int64_t t = 0; t < time; ++t)
      for (int64_t j = 0; j < kernel_size_; ++j) {
        int64_t place = t + first + j;
        if (is_ring)  // what is behind the end is not on the ring: it reads itself
          place = t < length ? around_the_ring(place, length) : t;
        const bool is_inside = place >= 0 && place < length;
        if (!is_ring) *outside++ = !is_inside;
        *row++ = static_cast<int32_t>(b * time + (is_ring || is_inside ? place : t));
      }
  }
  return found;
}

Tensor Convolution::operator()(const Tensor& x, const SequenceContext& around) const {
  const CurrentPart here(*this);
  const int64_t dim = weight.dim(0);
  check(x.rank() == 3 && x.dim(2) == dim, "convolution: x must have shape [B, T, {}], has {}", dim,
        x.shape());
  const int64_t batch = x.dim(0), time = x.dim(1);
  const KeepMask& mask = around.mask;
  check(causal_ || !mask.causal,
        "convolution: it reads later places, which a causal mask forbids; make it causal");
  check(mask.window == 0 && !mask.dense,
        "convolution: its kernel says what is read; a window or a dense mask cannot be kept to");
  mask.check_fits("convolution", batch, 1, time, time);
  if (kernel_size_ == 1) return linear(x, weight, bias);

  const Neighbours found = neighbours(batch, time, mask.key_lengths);
  Tensor read = embedding(x.reshape({batch * time, dim}), found.rows);  // (B, T, k, D)
  if (found.outside) read = masked_fill(read, found.outside, 0);
  return linear(read.reshape({batch, time, kernel_size_ * dim}), weight, bias);
}

}  // namespace heed::inline HEED_REAL
