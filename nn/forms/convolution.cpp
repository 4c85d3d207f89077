#include "nn/forms/convolution.h"

#include <algorithm>

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

// The number of neighbours that a position reads on a grid of so many axes.
int64_t neighbour_count(int64_t kernel_size, int64_t axes) {
  constexpr int64_t most = 1025;
  int64_t count = 1;
  for (int64_t axis = 0; axis < axes; ++axis) {
    count *= kernel_size;
    check_input(count <= most,
                "`kernel_size` = {} on a grid of {} axes reads more than {} positions; "
                "use a smaller one",
                kernel_size, axes, most);
  }
  return count;
}

void check_kernel(int64_t size, Padding padding, bool causal, const ConvolutionForm& form) {
  check_range("convolution", "kernel_size", size, at_least(1));
  check_input(!causal || padding == Padding::zero,
              "`padding` = \"circular\" lets the first position read the last, which a "
              "decoder must not: set `padding` = \"zero\"");
  check_input(
      causal || size % 2 == 1,
      "`kernel_size` = {} must be odd: a convolution reads as many positions before as after",
      size);
  check_input(!causal || form.grid.size() <= 1,
              "`attention.causal` = true: a convolution over a grid of {} axes has no earlier and "
              "later positions; set it to false",
              form.grid.size());
  neighbour_count(size, std::ssize(form.grid));
}

std::vector<bool> circular_axes(Padding padding, const ConvolutionForm& form) {
  const size_t axes = std::max<size_t>(1, form.grid.size());
  const bool all = padding == Padding::circular && form.circular_axes.empty();
  std::vector<bool> circular(axes, all);
  if (padding == Padding::zero) return circular;
  for (const int64_t axis : form.circular_axes) {
    check(axis >= 0 && axis < std::ssize(circular), "convolution: there is no axis {} of {}", axis,
          axes);
    circular[static_cast<size_t>(axis)] = true;
  }
  return circular;
}

Shape weight_shape(int64_t dim, int64_t kernel_size, const ConvolutionForm& form) {
  const int64_t count = neighbour_count(kernel_size, std::max<int64_t>(1, std::ssize(form.grid)));
  return form.scalar ? Shape{1, count} : Shape{dim, count * dim};
}

}  // namespace

Convolution::Convolution(int64_t dim, int64_t kernel_size, Padding padding, bool causal,
                         const LinearOptions& options, const ConvolutionForm& form)
    : weight(this, "weight",
             (check_kernel(kernel_size, padding, causal, form),
              initial_weight(weight_shape(dim, kernel_size, form), options.init,
                             options.residual_depth))),
      bias(this, "bias", options.bias ? constant_parameter({dim}, 0) : Tensor()),
      dim_(dim),
      kernel_size_(kernel_size),
      circular_(circular_axes(padding, form)),
      causal_(causal),
      form_(form) {}

// The position that position t reads as its neighbour j on axes of these lengths; -1: there is
// none.
int64_t Convolution::read_from(int64_t t, int64_t j, std::span<const int64_t> lengths) const {
  const int64_t first = causal_ ? 1 - kernel_size_ : (1 - kernel_size_) / 2;  // relative to t
  int64_t position = 0, stride = 1;
  for (size_t axis = lengths.size(); axis-- > 0;) {
    const int64_t length = lengths[axis];
    int64_t at = t % length + first + j % kernel_size_;
    if (circular_[axis]) at = wrapped(at, length);
    if (at < 0 || at >= length) return -1;
    position += at * stride;
    stride *= length, t /= length, j /= kernel_size_;
  }
  return position;
}

Convolution::Neighbours Convolution::neighbours(int64_t batch, int64_t time,
                                                const Ids& lengths) const {
  const bool circular = std::find(circular_.begin(), circular_.end(), false) == circular_.end();
  const int64_t count = neighbour_count(kernel_size_, std::ssize(circular_));
  Neighbours found{Ids::empty({batch, time, count}), {}};
  if (!circular) found.outside = Ids::empty({batch, time, count, 1});
  if (scope().shapes_only) return found;
  int32_t *row = found.rows.mutable_data(), *outside = found.outside.mutable_data();
  for (int64_t b = 0; b < batch; ++b) {
    const int64_t length = lengths ? lengths[b] : time;
    const std::span<const int64_t> axes =
        form_.grid.empty() ? std::span(&length, 1) : std::span<const int64_t>(form_.grid);
    for (int64_t t = 0; t < time; ++t)
      for (int64_t j = 0; j < count; ++j) {
        // Padding reads nothing, or itself.
        const int64_t position = t < length ? read_from(t, j, axes) : circular ? t : -1;
        if (!circular) *outside++ = position < 0;
        *row++ = static_cast<int32_t>(b * time + (position < 0 ? t : position));
      }
  }
  return found;
}

Tensor Convolution::operator()(const Tensor& x, const SequenceContext& sequence) const {
  const ModuleScope here(*this);
  const int64_t dim = dim_;
  const KeepMask& mask = sequence.mask;
  check_mixing_input("convolution", "its kernel decides which positions are read", true, x, dim,
                     mask);
  check(causal_ || !mask.causal,
        "convolution: a causal mask needs a causal convolution; this one reads later positions");
  const int64_t batch = x.dim(0), time = x.dim(1);
  mask.check_fits("convolution", batch, 1, time, time);
  check(form_.grid.empty() || time == Shape(form_.grid).size(),
        "convolution: {} positions do not fill the grid {}", time, Shape(form_.grid));
  if (kernel_size_ == 1 && !form_.scalar) return linear(x, weight, bias);

  const Neighbours found = neighbours(batch, time, mask.key_lengths);
  const int64_t count = found.rows.dim(2);
  Tensor read = embedding(x.reshape({batch * time, dim}), found.rows);  // (B, T, n, D)
  if (found.outside) read = masked_fill(read, found.outside, 0);
  if (!form_.scalar) return linear(read.reshape({batch, time, count * dim}), weight, bias);
  const Tensor y = sum(read * weight.reshape({count, 1}), {2});
  return bias ? y + bias : y;
}

static ConvolutionForm form_of(const ModelOptions& o) {
  return {o.attention.grid, o.mixing.circular_axes, o.mixing.scalar_kernel};
}

const MixingRule mixings::convolution = {
    .name = "convolution",
    .can_be_causal = true,
    .make = [](const ModelOptions& o, const LinearOptions& linear) -> std::unique_ptr<Mixing> {
      return std::make_unique<Convolution>(o.dim, o.mixing.kernel_size, o.mixing.padding,
                                           o.attention.causal, linear, form_of(o));
    },
    .validate =
        [](const ModelOptions& o) {
          check_kernel(o.mixing.kernel_size, o.mixing.padding, o.attention.causal, form_of(o));
        }};

}  // namespace heed::inline HEED_REAL
