#include "course/grader/grader.h"

#include <cmath>

namespace heed::course {

[[gnu::weak]] Tensor attend_with_heads(const Tensor& q, const Tensor& k, const Tensor& v,
                                       int64_t heads);

void grade_heads(Grader& g, decltype(&attend_with_heads) answer) {
  const auto check = [&](int64_t batch, int64_t queries, int64_t keys, int64_t heads, int64_t width,
                         int64_t value_width) {
    const double root = std::sqrt(static_cast<double>(width));
    // Head h has the columns [h · width, (h + 1) · width).
    const auto definition = [=](Arrays x, const Index& i) {
      const int64_t first = i[2] / value_width * width;
      double total = 0, result = 0;
      for (int64_t s = 0; s < keys; ++s) {
        const double f = std::exp(sum_over(width,
                                           [&](int64_t e) {
                                             return x[0](i.with(2, first + e)) *
                                                    x[1](i.with(1, s).with(2, first + e));
                                           }) /
                                  root);
        total += f;
        result += f * x[2](i.with(1, s));
      }
      return result / total;
    };
    g.check({.name = fmt::format("{} heads, q [{}, {}, {}], k [{}, {}, {}]", heads, batch, queries,
                                 heads * width, batch, keys, heads * width),
             .inputs = {{batch, queries, heads * width},
                        {batch, keys, heads * width},
                        {batch, keys, heads * value_width}},
             .result = {batch, queries, heads * value_width},
             .op = [=](Tensors x) { return answer(x[0], x[1], x[2], heads); },
             .definition = definition,
             .low = -1.5,
             .high = 1.5,
             .arguments = {"q", "k", "v"}});
  };
  check(2, g.size(3, 4), g.size(5, 6), 2, 3, 2);
  check(1, 2, 3, 3, g.size(1, 2), g.size(3, 4));
  check(g.size(1, 2), 1, g.size(1, 3), 1, 2, 1);
  g.expect(!uses_operation("scaled_dot_product_attention",
                           [=] {
                             const Tensor x = Tensor::zeros({1, 2, 4});
                             answer(x, x, x, 2);
                           }),
           "calls scaled_dot_product_attention");
}

namespace {
namespace heads_answers {

// (B, T, H·K) → (B, H, T, K)
Tensor split(const Tensor& x, int64_t heads) {
  return permute(x.reshape({x.dim(0), x.dim(1), heads, x.dim(2) / heads}), {0, 2, 1, 3});
}
Tensor split_by_reshape(const Tensor& x, int64_t heads) {
  return x.reshape({x.dim(0), heads, x.dim(1), x.dim(2) / heads});
}
Tensor split_as_columns(const Tensor& x, int64_t heads) {
  return permute(x.reshape({x.dim(0), x.dim(1), x.dim(2) / heads, heads}), {0, 3, 1, 2});
}
Tensor not_split(const Tensor& x, int64_t) { return split(x, 1); }

// (B, H, T, V) → (B, T, H·V)
Tensor merge(const Tensor& z) {
  return permute(z, {0, 2, 1, 3}).reshape({z.dim(0), z.dim(2), z.dim(1) * z.dim(3)});
}
Tensor merge_by_reshape(const Tensor& z) {
  return z.reshape({z.dim(0), z.dim(2), z.dim(1) * z.dim(3)});
}
Tensor merge_as_columns(const Tensor& z) {
  return permute(z, {0, 2, 3, 1}).reshape({z.dim(0), z.dim(2), z.dim(1) * z.dim(3)});
}
Tensor mean_of_heads(const Tensor& z) { return mean(z, {1}); }
Tensor not_merged(const Tensor& z) { return z; }

// What the scores are divided by the root of, for a width of the split queries.
double own_width(double width, double) { return width; }
double width_of_all(double width, double heads) { return width * heads; }
double width_of_one(double width, double heads) { return width / heads; }
double not_scaled(double, double) { return 1; }

template <auto split_of, auto merge_of, auto squared_scale = own_width, int sign = 1>
Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v, int64_t heads) {
  const Tensor qs = split_of(q, heads),
               scores = matmul(sign * qs, transpose(split_of(k, heads), -1, -2));
  const double scale = squared_scale(static_cast<double>(qs.dim(-1)), static_cast<double>(heads));
  return merge_of(matmul(softmax(scores / std::sqrt(scale)), split_of(v, heads)));
}

const Exercise heads_exercise(
    "heads", grade_heads, {attend_with_heads},
    {{"", attend<split, merge>},
     {"The scores are divided by √(H·K). Each head has its own scale, 1/√K.",
      attend<split, merge, width_of_all>},
     {"The scores are not scaled: each head divides by √K.", attend<split, merge, not_scaled>},
     {"The scores are negated: keys that fit a query less get the larger weights.",
      attend<split, merge, own_width, -1>},
     {"There is only one head: the scores are products of all H·K columns.",
      attend<not_split, merge>},
     {"There is only one head: the scores are products of all H·K columns.",
      attend<not_split, merge, width_of_one>},
     {"The heads are split by reshape alone, and merged by reshape alone: a head then consists of "
      "pieces of different positions. Permute after the split and before the merge.",
      attend<split_by_reshape, merge_by_reshape>},
     {"The heads are split by reshape alone: a head then consists of pieces of different "
      "positions. Reshape to (B, T, H, K), then permute.",
      attend<split_by_reshape, merge>},
     {"The heads are merged by reshape alone. Permute back to (B, T, H, V) first.",
      attend<split, merge_by_reshape>},
     {"Head h has columns h, h + H, h + 2 H …: the columns were split as (K, H), not as (H, K).",
      attend<split_as_columns, merge_as_columns>},
     {"The heads are merged as (V, H), not as (H, V): column by column, not head by head.",
      attend<split, merge_as_columns>},
     {"This is the mean of the heads. Put them side by side instead.",
      attend<split, mean_of_heads>},
     {"The heads are not merged: (B, H, Tq, V) must become (B, Tq, H·V).",
      attend<split, not_merged>},
     {"That is the library's own function. Split, attend and merge with smaller operations.",
      [](const Tensor& q, const Tensor& k, const Tensor& v, int64_t heads) {
        return scaled_dot_product_attention(q, k, v, heads);
      }}});

}  // namespace heads_answers
}  // namespace
}  // namespace heed::course
