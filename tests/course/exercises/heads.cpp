// The exercise heads: its solution, its stub, and the mistakes that its grader names.
#include <doctest/doctest.h>

#include <cmath>

#include "core/ops.h"
#include "tests/course/exercises/graded.h"

namespace heed::course {

void grade_heads(Grader& g, Tensor (*attend_with_heads)(const Tensor& q, const Tensor& k,
                                                        const Tensor& v, int64_t heads));

namespace {

namespace heads_stub {
using namespace heed;
#include "course/exercises/heads/exercise.cpp"
}  // namespace heads_stub

Tensor split_for_heads(const Tensor& x, int64_t heads) {
  return permute(x.reshape({x.dim(0), x.dim(1), heads, x.dim(2) / heads}), {0, 2, 1, 3});
}

Tensor merge_of_heads(const Tensor& z) {
  return permute(z, {0, 2, 1, 3}).reshape({z.dim(0), z.dim(2), z.dim(1) * z.dim(3)});
}

Tensor split_without_permute(const Tensor& x, int64_t heads) {
  return x.reshape({x.dim(0), heads, x.dim(1), x.dim(2) / heads});
}

Tensor merge_without_permute(const Tensor& z) {
  return z.reshape({z.dim(0), z.dim(2), z.dim(1) * z.dim(3)});
}

// (B, T, K·H) → (B, H, T, K), and back
Tensor split_interleaved(const Tensor& x, int64_t heads) {
  return permute(x.reshape({x.dim(0), x.dim(1), x.dim(2) / heads, heads}), {0, 3, 1, 2});
}
Tensor merge_interleaved(const Tensor& z) {
  return permute(z, {0, 2, 3, 1}).reshape({z.dim(0), z.dim(2), z.dim(1) * z.dim(3)});
}

Tensor attend_in_heads(const Tensor& q, const Tensor& k, const Tensor& v, double width = 0) {
  const Tensor scores = matmul(q, transpose(k, -1, -2));
  return matmul(softmax(scores / std::sqrt(width > 0 ? width : static_cast<double>(q.dim(-1)))), v);
}

template <Tensor (*split)(const Tensor&, int64_t), Tensor (*merge)(const Tensor&)>
Tensor by_heads(const Tensor& q, const Tensor& k, const Tensor& v, int64_t heads) {
  return merge(attend_in_heads(split(q, heads), split(k, heads), split(v, heads)));
}

TEST_CASE("exercise heads: the solution passes") {
  CHECK(graded(grade_heads, by_heads<split_for_heads, merge_of_heads>) == "");
  CHECK(graded(grade_heads, [](const Tensor& q, const Tensor& k, const Tensor& v, int64_t heads) {
          std::vector<Tensor> results;
          for (int64_t h = 0; h < heads; ++h) {
            const auto part = [&](const Tensor& x) {
              const int64_t width = x.dim(2) / heads;
              return slice(x, 2, h * width, (h + 1) * width);
            };
            results.push_back(attend_in_heads(part(q), part(k), part(v)));
          }
          return concat(results, 2);
        }) == "");
}

TEST_CASE("exercise heads: the stub and mistakes are named") {
  CHECK_NAMED("nothing is computed yet", grade_heads, heads_stub::heed::course::attend_with_heads);
  CHECK_NAMED("and merged by reshape alone", grade_heads,
              by_heads<split_without_permute, merge_without_permute>);
  CHECK_NAMED("The heads are split by reshape alone:", grade_heads,
              by_heads<split_without_permute, merge_of_heads>);
  CHECK_NAMED("The heads are merged by reshape alone", grade_heads,
              by_heads<split_for_heads, merge_without_permute>);
  CHECK_NAMED("not as (H, K)", grade_heads, by_heads<split_interleaved, merge_interleaved>);
  CHECK_NAMED("not as (H, V)", grade_heads, by_heads<split_for_heads, merge_interleaved>);
  CHECK_NAMED("divided by √(H·K)", grade_heads,
              [](const Tensor& q, const Tensor& k, const Tensor& v, int64_t heads) {
                return merge_of_heads(
                    attend_in_heads(split_for_heads(q, heads), split_for_heads(k, heads),
                                    split_for_heads(v, heads), static_cast<double>(q.dim(2))));
              });
  CHECK_NAMED(
      "not scaled", grade_heads,
      [](const Tensor& q, const Tensor& k, const Tensor& v, int64_t heads) {
        return merge_of_heads(attend_in_heads(split_for_heads(q, heads), split_for_heads(k, heads),
                                              split_for_heads(v, heads), 1));
      });
  CHECK_NAMED("only one head", grade_heads,
              [](const Tensor& q, const Tensor& k, const Tensor& v, int64_t) {
                return attend_in_heads(q, k, v);
              });
  CHECK_NAMED("the mean of the heads", grade_heads,
              [](const Tensor& q, const Tensor& k, const Tensor& v, int64_t heads) {
                return mean(attend_in_heads(split_for_heads(q, heads), split_for_heads(k, heads),
                                            split_for_heads(v, heads)),
                            {1});
              });
  CHECK_NAMED("not merged", grade_heads,
              [](const Tensor& q, const Tensor& k, const Tensor& v, int64_t heads) {
                return attend_in_heads(split_for_heads(q, heads), split_for_heads(k, heads),
                                       split_for_heads(v, heads));
              });
  CHECK_NAMED("That is the library's answer", grade_heads,
              [](const Tensor& q, const Tensor& k, const Tensor& v, int64_t heads) {
                return scaled_dot_product_attention(q, k, v, heads);
              });
}

}  // namespace
}  // namespace heed::course
