#include "course/grader/grader.h"

#include <cmath>

namespace heed::course {

[[gnu::weak]] Tensor attend_with_heads(const Tensor& q, const Tensor& k, const Tensor& v,
                                       int64_t heads);

void grade_heads(Grader& g, Tensor (*attend_with_heads)(const Tensor& q, const Tensor& k,
                                                        const Tensor& v, int64_t heads)) {
  const auto check = [&](int64_t batch, int64_t queries, int64_t keys, int64_t heads, int64_t width,
                         int64_t value_width) {
    // Where the element (t, c) of head h is among the T · H · W elements of an example.
    using Place =
        int64_t (*)(int64_t h, int64_t t, int64_t c, int64_t time, int64_t heads, int64_t width);
    const Place right = [](int64_t h, int64_t t, int64_t c, int64_t, int64_t count, int64_t wide) {
      return (t * count + h) * wide + c;
    };
    const Place no_permute = [](int64_t h, int64_t t, int64_t c, int64_t time, int64_t,
                                int64_t wide) { return (h * time + t) * wide + c; };
    const Place interleaved = [](int64_t h, int64_t t, int64_t c, int64_t, int64_t count,
                                 int64_t wide) { return (t * wide + c) * count + h; };

    // zₕ[t, c], with heads that are split as `place` says
    const auto head = [=](Place place, double scale) {
      return [=](Arrays x, int64_t b, int64_t h, int64_t t, int64_t c) {
        const auto at = [&](int input, int64_t s, int64_t e) {
          const int64_t wide = input == 2 ? value_width : width, time = x[input].shape[1];
          return x[input].values[static_cast<size_t>(b * time * heads * wide +
                                                     place(h, s, e, time, heads, wide))];
        };
        double total = 0, result = 0;
        for (int64_t s = 0; s < keys; ++s) {
          const double f = std::exp(
              scale * sum_over(width, [&](int64_t e) { return at(0, t, e) * at(1, s, e); }));
          total += f;
          result += f * at(2, s, c);
        }
        return result / total;
      };
    };
    // y[b, t, ·] of heads merged as `place` says
    const auto merged = [=](auto z, Place place) {
      return [=](Arrays x, const Index& i) -> double {
        const int64_t position = i[1] * heads * value_width + i[2];
        for (int64_t h = 0; h < heads; ++h)
          for (int64_t t = 0; t < queries; ++t)
            for (int64_t c = 0; c < value_width; ++c)
              if (place(h, t, c, queries, heads, value_width) == position)
                return z(x, i[0], h, t, c);
        return 0;
      };
    };
    const double root = 1 / std::sqrt(static_cast<double>(width));
    const auto all_columns = [=](double scale) {
      return [=](Arrays x, const Index& i) {
        double total = 0, result = 0;
        for (int64_t s = 0; s < keys; ++s) {
          const double f = std::exp(scale * sum_over(heads * width, [&](int64_t e) {
                                      return x[0](i.with(2, e)) * x[1](i.with(1, s).with(2, e));
                                    }));
          total += f;
          result += f * x[2](i.with(1, s));
        }
        return result / total;
      };
    };
    const auto z = head(right, root);
    std::vector<Mistake> mistakes = {
        wrong_value("The scores are divided by √(H·K). Each head has its own scale, 1/√K.",
                    merged(head(right, root / std::sqrt(static_cast<double>(heads))), right)),
        wrong_value("The scores are not scaled: each head divides by √K.",
                    merged(head(right, 1), right)),
        wrong_value("There is only one head: the scores are products of all H·K columns.",
                    all_columns(root / std::sqrt(static_cast<double>(heads)))),
        wrong_value("There is only one head: the scores are products of all H·K columns.",
                    all_columns(root)),
        wrong_value(
            "The heads are split by reshape alone, and merged by reshape alone: a head then "
            "consists of pieces of different positions. Permute after the split and before "
            "the merge.",
            merged(head(no_permute, root), no_permute)),
        wrong_value("The heads are split by reshape alone: a head then consists of pieces of "
                    "different positions. Reshape to (B, T, H, K), then permute.",
                    merged(head(no_permute, root), right)),
        wrong_value("The heads are merged by reshape alone. Permute back to (B, T, H, V) first.",
                    merged(z, no_permute)),
        wrong_value("Head h has columns h, h + H, h + 2 H …: the columns were split as (K, H), not "
                    "as (H, K).",
                    merged(head(interleaved, root), interleaved)),
        wrong_value("The heads are merged as (V, H), not as (H, V): column by column, not head by "
                    "head.",
                    merged(z, interleaved)),
        wrong_value(
            "This is the mean of the heads. They must stand side by side.",
            [=](Arrays x, const Index& i) {
              return sum_over(heads, [&](int64_t h) { return z(x, i[0], h, i[1], i[2]); }) /
                     static_cast<double>(heads);
            },
            Shape{batch, queries, value_width}),
        wrong_value(
            "The heads are not merged: (B, H, Tq, V) must become (B, Tq, H·V).",
            [=](Arrays x, const Index& i) { return z(x, i[0], i[1], i[2], i[3]); },
            Shape{batch, heads, queries, value_width})};
    g.check({.name = fmt::format("{} heads, q [{}, {}, {}], k [{}, {}, {}]", heads, batch, queries,
                                 heads * width, batch, keys, heads * width),
             .inputs = {{batch, queries, heads * width},
                        {batch, keys, heads * width},
                        {batch, keys, heads * value_width}},
             .result = {batch, queries, heads * value_width},
             .op = [=](Tensors x) { return attend_with_heads(x[0], x[1], x[2], heads); },
             .definition = merged(z, right),
             .low = -1.5,
             .high = 1.5,
             .arguments = {"q", "k", "v"}},
            mistakes);
  };
  check(2, g.size(3, 4), g.size(5, 6), 2, 3, 2);
  check(1, 2, 3, 3, g.size(1, 2), g.size(3, 4));
  check(g.size(1, 2), 1, g.size(1, 3), 1, 2, 1);
  g.expect(!uses_operation("scaled_dot_product_attention",
                           [=] {
                             const Tensor x = Tensor::zeros({1, 2, 4});
                             attend_with_heads(x, x, x, 2);
                           }),
           "calls scaled_dot_product_attention",
           "That is the library's answer: split, attend and merge by smaller operations.");
}
HEED_GRADE(heads, attend_with_heads);

}  // namespace heed::course
