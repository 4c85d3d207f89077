// Several heads, and grids.
#include <algorithm>
#include <cmath>

#include "nn/convolution.h"
#include "nn/grid.h"
#include "theorems/samples.h"
#include "theorems/theorem.h"

namespace heed::theorems {
namespace {

// Columns [first, first + width) of the projection that head h has, as a layer of its own would.
Tensor part_of(const Module& attention, const std::string& name, const Tensor& x, int64_t first,
               int64_t width) {
  for (const NamedParameter& p : attention.parameters())
    if (p.name == name) return linear(x, slice(p.tensor, 0, first, first + width));
  throw Error("theorems: there is no parameter " + name);
}

// What every head gives, computed one by one from the weights of a layer without biases.
std::vector<Tensor> heads_of(const MultiHeadAttention& attention, const Tensor& x,
                             const std::vector<int64_t>& keys, const std::vector<int64_t>& values) {
  std::vector<Tensor> heads;
  int64_t key = 0, value = 0;
  for (size_t h = 0; h < keys.size(); ++h) {
    heads.push_back(attention_of(part_of(attention, "query.weight", x, key, keys[h]),
                                 part_of(attention, "key.weight", x, key, keys[h]),
                                 part_of(attention, "value.weight", x, value, values[h]),
                                 1 / std::sqrt(static_cast<double>(keys[h]))));
    key += keys[h];
    value += values[h];
  }
  return heads;
}

Tensor parameter(const Module& module, const std::string& name) {
  for (const NamedParameter& p : module.parameters())
    if (p.name == name) return p.tensor;
  throw Error("theorems: there is no parameter " + name);
}

AttentionSetup uneven() {
  AttentionSetup setup = plain();
  setup.form.key_dims = {2, 4};
  setup.form.value_dims = {3, 1};
  return setup;
}

double error_of_uneven_heads() {
  const MultiHeadAttention attention(6, 2, uneven());
  const Tensor x = normal({1, 5, 6});
  const std::vector<Tensor> heads = heads_of(attention, x, {2, 4}, {3, 1});
  return distance(attention(x, {}),
                  linear(concat(heads, -1), parameter(attention, "output.weight")));
}

// Σₕ zₕ Wₕ
Tensor summed(const std::vector<Tensor>& heads, const Tensor& w) {
  Tensor total;
  for (size_t h = 0; h < heads.size(); ++h) {
    const auto at = static_cast<int64_t>(h);
    const Tensor own = w.rank() == 1 ? heads[h] * slice(w, 0, at, at + 1)
                                     : matmul(heads[h], slice(w, 0, at, at + 1));
    total = total ? total + own : own;
  }
  return total;
}

Tensor combined(Combine combine, const MultiHeadAttention& attention,
                const std::vector<Tensor>& heads) {
  switch (combine) {
    case Combine::concat_projection:
      return linear(concat(heads, -1), parameter(attention, "output.weight"));
    case Combine::concat:
      return concat(heads, -1);
    case Combine::weighted:
    case Combine::tensor:
      return summed(heads, parameter(attention, "head_weight"));
    case Combine::mean:
      return mean(stack(heads, 0), {0});
    case Combine::max:
      return max(stack(heads, 0), {0});
  }
  throw Error("theorems: unknown combination");
}

double error_of_combinations() {
  double most = 0;
  for (const Combine combine : {Combine::concat_projection, Combine::concat, Combine::weighted,
                                Combine::tensor, Combine::mean, Combine::max}) {
    const bool side_by_side = combine == Combine::concat_projection || combine == Combine::concat;
    const int64_t value = side_by_side ? 3 : 6;
    AttentionSetup setup = plain();
    setup.form.combine = combine;
    const MultiHeadAttention attention(6, 2, setup);
    if (combine == Combine::weighted) set(attention, "head_weight", normal({2}));
    const Tensor x = normal({1, 5, 6});
    const Tensor wanted =
        combined(combine, attention, heads_of(attention, x, {3, 3}, {value, value}));
    most = std::max(most, distance(attention(x, {}), wanted));
  }
  return most;
}

int64_t count(HeadWidth width, int64_t heads) {
  AttentionSetup setup = plain();
  setup.form.head_width = width;
  return MultiHeadAttention(8, heads, setup).parameter_count();
}

// A head that looks at one offset alone, by a bias that outweighs all else; W₀ W₁ W₂ are the
// convolution's.
double error_of_attention_as_convolution() {
  constexpr int64_t time = 7, dim = 4, k = 3;
  const Convolution convolution(dim, k, Padding::zero, false, {false});
  AttentionSetup setup = plain();
  setup.form.head_width = HeadWidth::wide;
  const MultiHeadAttention attention(dim, k, setup);
  Tensor values = Tensor::zeros({k * dim, dim}), bias = Tensor::full({1, k, time, time}, -1e9F);
  for (int64_t row = 0; row < k * dim; ++row) values.mutable_data()[row * dim + row % dim] = 1;
  for (int64_t h = 0; h < k; ++h)
    for (int64_t t = 0; t < time; ++t)
      if (const int64_t seen = t + h - 1; seen >= 0 && seen < time)
        bias.mutable_data()[(h * time + t) * time + seen] = 0;
  set(attention, "value.weight", values);
  set(attention, "output.weight", convolution.weight);
  const Tensor x = normal({1, time, dim});
  const auto inside = [](const Tensor& y) { return slice(y, 1, 1, time - 1); };
  return distance(inside(attention(x, x, {}, bias)), inside(convolution(x, {})));
}

void heads(Measurements& m) {
  m.at_most("A10", rounding, "S0 eq. 5, 6",
            "heads of widths (2, 3) and (4, 1) are heads computed one by one",
            error_of_uneven_heads);
  m.at_most("A10", 0, "S0 eq. 6", "Wᵒ takes Σ widths = 4 to any width, here 6 (misfit)", [] {
    const MultiHeadAttention attention(6, 2, uneven());
    return misfit(parameter(attention, "output.weight"), {6, 4});
  });
  m.at_most("A11", 0, "S1",
            "wide heads have h times the weights of narrow ones, h = 1, 2, 4, 8 (difference)", [] {
              int64_t wrong = 0;
              for (const int64_t heads : {1, 2, 4, 8})
                wrong += std::abs(count(HeadWidth::wide, heads) -
                                  heads * count(HeadWidth::narrow, heads));
              return static_cast<double>(wrong);
            });
  m.at_most("A12", rounding, "S3 12.8, 12.10.5",
            "heads combined by Wᵒ, concat, weights, a tensor, mean and max, as their formulas",
            error_of_combinations);
  m.at_most("A50", rounding, "S4",
            "a head as a filter: three heads at fixed offsets are a convolution of 3",
            error_of_attention_as_convolution);
}

double error_of_unfolding() {
  double most = 0;
  const int64_t video[] = {2, 3, 4};
  const Tensor x = normal({2, 24, 5});
  for (const std::vector<int64_t>& axes :
       {std::vector<int64_t>{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}})
    most = std::max(most, distance(fold(unfold(x, video, axes), video, axes), x));
  return most;
}

// The columns of the unfolding's transpose against the channels of each pixel.
double error_of_fibres() {
  const int64_t image[] = {3, 4}, both[] = {0, 1};
  const Tensor x = normal({1, 12, 5});
  const Tensor unfolded = transpose(unfold(x, image, both), 1, 2);  // (1, c, h·w)
  const Tensor pixels = x.reshape({3, 4, 5});
  double most = 0;
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t j = 0; j < 4; ++j) {
      const Tensor fibre = slice(slice(pixels, 0, i, i + 1), 1, j, j + 1);
      const Tensor column = slice(unfolded, 2, i * 4 + j, i * 4 + j + 1);
      most = std::max(most, distance(column.reshape({5}), fibre.reshape({5})));
    }
  return most;
}

// Attention along one axis of a grid, against attention to each line by itself.
double error_of_lines(int64_t axis) {
  AttentionSetup setup;
  const MultiHeadAttention lines(6, 2, setup);
  setup.grid = {3, 4};
  setup.form.axes = {axis};
  const MultiHeadAttention attention(6, 2, setup);
  copy_parameters(lines, attention);
  const Tensor x = normal({1, 12, 6});
  const Tensor image = x.reshape({3, 4, 6});
  const Tensor wanted = axis == 1
                            ? lines(image, SequenceContext{})
                            : transpose(lines(transpose(image, 0, 1), SequenceContext{}), 0, 1);
  return distance(attention(x, SequenceContext{}), wanted.reshape(x.shape()));
}

void grids(Measurements& m) {
  m.at_most("A13", 0, "S0 s. 5", "fold(unfold(T)) = T, along all axes of a video",
            error_of_unfolding);
  m.at_most("A13", 0, "S0 s. 5", "a column of an image's unfolding is a mode-3 fibre",
            error_of_fibres);
  m.at_most("A13", rounding, "S0 s. 5", "along one axis, every line attends to itself alone",
            [] { return std::max(error_of_lines(0), error_of_lines(1)); });
  m.at_most("A14", 0, "S0 s. 5", "8 × 8 queries to 4 × 4 values give 8 × 8 outputs (misfit)", [] {
    const MultiHeadAttention attention(6, 2);
    const Tensor y = attention(normal({1, 8 * 8, 6}), normal({1, 4 * 4, 6}), {});
    return misfit(y, {1, 8 * 8, 6});
  });
}

}  // namespace

void measure_heads(Measurements& m) {
  m.section("Heads and grids");
  heads(m);
  grids(m);
}

}  // namespace heed::theorems
