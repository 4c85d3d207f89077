// Several heads, and attention over grids.
#include <algorithm>
#include <array>
#include <cmath>

#include "lab/claims/claim.h"
#include "lab/claims/samples.h"
#include "nn/block.h"
#include "nn/forms/grid.h"

namespace heed::claims {
namespace {

// The output of every head, computed one by one from the weights of a layer without biases.
std::vector<Tensor> heads_of(const AttentionForm& attention, const Tensor& x,
                             const std::vector<int64_t>& keys, const std::vector<int64_t>& values) {
  std::vector<Tensor> heads;
  int64_t key = 0, value = 0;  // the first row of the head's weights
  for (size_t h = 0; h < keys.size(); ++h) {
    const auto project = [&](const char* name, int64_t first, int64_t width) {
      return linear(x, slice(attention.parameter(name), 0, first, first + width));
    };
    heads.push_back(attention_of(
        project("query.weight", key, keys[h]), project("key.weight", key, keys[h]),
        project("value.weight", value, values[h]), 1 / std::sqrt(static_cast<double>(keys[h]))));
    key += keys[h];
    value += values[h];
  }
  return heads;
}

AttentionForm uneven_heads(int64_t output = 0) {
  return {
      6,
      2,
      {.linear = {.bias = false}, .key_dims = {2, 4}, .value_dims = {3, 1}, .output_dim = output}};
}

// Two heads combined as a layer with these parameters does.
Tensor combined_heads(Combine combine, const Module& layer, const std::vector<Tensor>& z) {
  if (combine == Combine::mean) return mean(stack(z, 0), {0});
  if (combine == Combine::max) return max(stack(z, 0), {0});
  if (combine == Combine::concat) return concat(z, -1);
  if (combine == Combine::concat_projection)
    return linear(concat(z, -1), layer.parameter("output.weight"));
  const Tensor w = layer.parameter("head_weight"), w0 = slice(w, 0, 0, 1), w1 = slice(w, 0, 1, 2);
  if (combine == Combine::weighted) return z[0] * w0 + z[1] * w1;
  return matmul(z[0], w0) + matmul(z[1], w1);
}

constexpr Combine combinations[] = {Combine::concat_projection,
                                    Combine::concat,
                                    Combine::weighted,
                                    Combine::tensor,
                                    Combine::mean,
                                    Combine::max};

double error_of_combination(Combine combine) {
  const bool is_concat = combine == Combine::concat_projection || combine == Combine::concat;
  const int64_t value = is_concat ? 3 : 6;
  const AttentionForm attention(6, 2, {.linear = {.bias = false}, .combine = combine});
  if (combine == Combine::weighted) set_parameter(attention, "head_weight", normal(2));
  const Tensor x = normal(1, 5, 6);
  return distance(attention(x, {}), combined_heads(combine, attention,
                                                   heads_of(attention, x, {3, 3}, {value, value})));
}

// Attention along one axis of a grid against attention within each line by itself.
double error_of_lines(int64_t axis) {
  const MultiHeadAttention lines(6, 2);
  const AttentionForm attention(6, 2, {.axes = {axis}, .grid = {3, 4}});
  copy_parameters(lines, attention);
  const Tensor x = normal(1, 12, 6);
  const Tensor image = x.reshape({3, 4, 6});
  const Tensor expected =
      axis == 1 ? lines(image, {}) : transpose(lines(transpose(image, 0, 1), {}), 0, 1);
  return distance(attention(x, {}), expected.reshape(x.shape()));
}

}  // namespace

const std::vector<Claim> topics::heads = {
    {"A10", equal, "S0 eq. 5, 6",
     "heads of widths (2, 3) and (4, 1) equal the same heads computed one by one",
     [] {
       const AttentionForm attention = uneven_heads();
       const Tensor x = normal(1, 5, 6);
       return distance(attention(x, {}), combined_heads(Combine::concat_projection, attention,
                                                        heads_of(attention, x, {2, 4}, {3, 1})));
     }},
    {"A10", by_construction, "S0 eq. 6",
     "Wᵒ maps Σ widths = 4 to any width: 9 in a model of width 6 (wrong shape)",
     [] { return wrong_shape(uneven_heads(9)(normal(1, 5, 6), {}), 1, 5, 9); }},
    {"A10", by_construction, "S0 eq. 6",
     "… in a block, whose skip connection is then a matrix of 9 × 6 (wrong shapes)",
     [] {
       ModelOptions o{.dim = 6, .heads = 2};
       o.attention.output_dim = 9;
       const EncoderLayer layer(o);
       return wrong_shape(layer.parameter("attention_skip.weight"), 9, 6) +
              wrong_shape(layer(normal(1, 5, 6), {}), 1, 5, 9);
     }},
    {"A11", by_construction, "S1",
     "wide heads have h times the weights of narrow heads, h = 1, 2, 4, 8 (difference)",
     [] {
       const MultiHeadAttentionOptions narrow{.linear = {.bias = false}};
       const MultiHeadAttentionOptions wide{.linear = {.bias = false},
                                            .head_width = HeadWidth::wide};
       return max_over(std::array{1, 2, 4, 8}, [&](int64_t heads) {
         return difference(AttentionForm(8, heads, wide).parameter_count(),
                           heads * AttentionForm(8, heads, narrow).parameter_count());
       });
     }},
    {"A12", equal, "S3 12.8, 12.10.5",
     "heads combined by Wᵒ, concat, weights, a tensor, mean and max equal their formulas",
     [] { return max_over(combinations, error_of_combination); }},
    {"A50", equal, "S4",
     "a head is like a filter: three heads at fixed offsets equal a convolution of 3",
     [] {
       // Head h attends only to the position at offset h - 1, because a bias outweighs all scores;
       // the output projection holds the weights of the convolution.
       constexpr int64_t time = 7, dim = 4, k = 3;
       const Convolution convolution(dim, k, Padding::zero, false, {false});
       const AttentionForm attention(dim, k,
                                     {.linear = {.bias = false}, .head_width = HeadWidth::wide});
       const Tensor bias = matrix(k * time, time, [](int64_t row, int64_t key) {
         return key == row % time + row / time - 1 ? 0 : -1e9;  // row: head · time + query
       });
       set_parameter(attention, "value.weight",
                     concat({identity(dim), identity(dim), identity(dim)}, 0));
       set_parameter(attention, "output.weight", convolution.weight);
       const Tensor x = normal(1, time, dim);
       const auto inside = [](const Tensor& y) { return slice(y, 1, 1, time - 1); };
       return distance(inside(attention(x, x, {}, bias.reshape({1, k, time, time}))),
                       inside(convolution(x, {})));
     }},
    {"A13", at_most(0), "S0 s. 5", "fold(unfold(T)) = T for all choices of axes of a video",
     [] {
       const int64_t video[] = {2, 3, 4};
       const Tensor x = normal(2, 24, 5);
       const std::vector<int64_t> choices[] = {{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}};
       return max_over(choices, [&](const std::vector<int64_t>& axes) {
         return distance(fold(unfold(x, video, axes), video, axes), x);
       });
     }},
    {"A13", at_most(0), "S0 s. 5", "a column of an image's unfolding is a mode-3 fibre",
     [] {
       // The columns of the transposed unfolding against the channels of each pixel.
       const int64_t image[] = {3, 4}, both[] = {0, 1};
       const Tensor x = normal(1, 12, 5);
       const Tensor unfolded = transpose(unfold(x, image, both), 1, 2);  // (1, c, h·w)
       const Tensor pixels = x.reshape({3, 4, 5});
       return max_of(12, [&](int64_t i) {
         const Tensor fibre = slice(slice(pixels, 0, i / 4, i / 4 + 1), 1, i % 4, i % 4 + 1);
         return distance(slice(unfolded, 2, i, i + 1).reshape({5}), fibre.reshape({5}));
       });
     }},
    {"A13", equal, "S0 s. 5", "along one axis, every line attends only to itself",
     [] { return std::max(error_of_lines(0), error_of_lines(1)); }},
    {"A14", by_construction, "S0 s. 5",
     "8 × 8 queries and 4 × 4 values give 8 × 8 outputs (wrong shape)",
     [] {
       const MultiHeadAttention attention(6, 2);
       const Tensor y = attention.across(normal(1, 8 * 8, 6), normal(1, 4 * 4, 6), {});
       return wrong_shape(y, 1, 8 * 8, 6);
     }},
};

}  // namespace heed::claims
