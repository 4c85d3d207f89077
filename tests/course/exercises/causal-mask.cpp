// The exercise causal-mask: its solution, its stub, and the mistakes that its grader names.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/ops.h"
#include "tests/course/exercises/graded.h"

namespace heed::course {

void grade_causal_mask(Grader& g, Tensor (*causal_attention)(const Tensor& q, const Tensor& k,
                                                             const Tensor& v));

namespace {

namespace causal_mask_stub {
using namespace heed;
#include "course/exercises/causal-mask/exercise.cpp"
}  // namespace causal_mask_stub

constexpr double causal_no_score = -std::numeric_limits<double>::infinity();

Tensor causal_scores(const Tensor& q, const Tensor& k) {
  return matmul(q, transpose(k, 0, 1)) / std::sqrt(static_cast<double>(k.dim(1)));
}

// 1 where `hides(position of the query, query, key)`
template <class Hides>
Ids causal_hidden_keys(const Tensor& q, const Tensor& k, Hides hides) {
  Ids hidden = Ids::full({q.dim(0), k.dim(0)}, 0);
  for (int64_t i = 0; i < q.dim(0); ++i)
    for (int64_t j = 0; j < k.dim(0); ++j)
      hidden.mutable_data()[i * k.dim(0) + j] = hides(i + k.dim(0) - q.dim(0), i, j);
  return hidden;
}

Ids causal_later_keys(const Tensor& q, const Tensor& k) {
  return causal_hidden_keys(q, k,
                            [](int64_t position, int64_t, int64_t j) { return j > position; });
}

// (Tq, 1): 1 for a query that sees no key
Ids causal_sees_nothing(const Tensor& q, const Tensor& k) {
  Ids empty = Ids::full({q.dim(0), 1}, 0);
  for (int64_t i = 0; i < q.dim(0) - k.dim(0); ++i) empty.mutable_data()[i] = 1;
  return empty;
}

// exp(s - max) / Σ, which gives NaN for a row of -∞
Tensor causal_naive_softmax(const Tensor& s) {
  const Tensor e = exp(s - max(s, {1}, true));
  return e / sum(e, {1}, true);
}

// Adds `value` to the scores of later keys.
Tensor causal_with_added(const Tensor& q, const Tensor& k, double value) {
  const Tensor scores = causal_scores(q, k);
  return scores + masked_fill(Tensor::zeros(scores.shape()), causal_later_keys(q, k), value);
}

TEST_CASE("exercise causal-mask: the solution passes") {
  CHECK(graded(grade_causal_mask, [](const Tensor& q, const Tensor& k, const Tensor& v) {
          return matmul(
              softmax(masked_fill(causal_scores(q, k), causal_later_keys(q, k), causal_no_score)),
              v);
        }) == "");
  // A finite score in rows without keys, whose weights are then removed.
  CHECK(graded(grade_causal_mask, [](const Tensor& q, const Tensor& k, const Tensor& v) {
          const Tensor p = softmax(masked_fill(causal_scores(q, k), causal_later_keys(q, k), -1e9));
          return matmul(masked_fill(p, causal_later_keys(q, k), 0), v);
        }) == "");
}

TEST_CASE("exercise causal-mask: the stub and mistakes are named") {
  CHECK_NAMED("nothing is computed yet", grade_causal_mask,
              causal_mask_stub::heed::course::causal_attention);
  CHECK_NAMED("gives NaN", grade_causal_mask,
              [](const Tensor& q, const Tensor& k, const Tensor& v) {
                return matmul(causal_naive_softmax(masked_fill(
                                  causal_scores(q, k), causal_later_keys(q, k), causal_no_score)),
                              v);
              });
  CHECK_NAMED("plain mean of all values", grade_causal_mask,
              [](const Tensor& q, const Tensor& k, const Tensor& v) {
                return matmul(
                    softmax(masked_fill(causal_scores(q, k), causal_later_keys(q, k), -1e9)), v);
              });
  CHECK_NAMED("attends to what is hidden", grade_causal_mask,
              [](const Tensor& q, const Tensor& k, const Tensor& v) {
                return matmul(softmax(causal_with_added(q, k, -1e4)), v);
              });
  CHECK_NAMED(
      "reads key 0 instead", grade_causal_mask,
      [](const Tensor& q, const Tensor& k, const Tensor& v) {
        const Ids hidden = causal_hidden_keys(
            q, k, [](int64_t position, int64_t, int64_t j) { return j > position && j > 0; });
        return matmul(softmax(masked_fill(causal_scores(q, k), hidden, causal_no_score)), v);
      });
  const auto masked = [](auto hides) {
    return [](const Tensor& q, const Tensor& k, const Tensor& v) {
      const Ids hidden = causal_hidden_keys(q, k, decltype(hides){});
      return matmul(softmax(masked_fill(causal_scores(q, k), hidden, causal_no_score)), v);
    };
  };
  CHECK_NAMED("its own position", grade_causal_mask,
              masked([](int64_t position, int64_t, int64_t j) { return j >= position; }));
  CHECK_NAMED("at their beginnings", grade_causal_mask,
              masked([](int64_t, int64_t i, int64_t j) { return j > i; }));
  CHECK_NAMED("is reversed", grade_causal_mask,
              masked([](int64_t position, int64_t, int64_t j) { return j < position; }));
  CHECK_NAMED("exactly the keys that it must hide", grade_causal_mask,
              masked([](int64_t position, int64_t, int64_t j) { return j <= position; }));
  CHECK_NAMED("there is no mask", grade_causal_mask,
              masked([](int64_t, int64_t, int64_t) { return false; }));
  CHECK_NAMED("after the softmax", grade_causal_mask,
              [](const Tensor& q, const Tensor& k, const Tensor& v) {
                return matmul(masked_fill(softmax(causal_scores(q, k)), causal_later_keys(q, k), 0),
                              v);
              });
  CHECK_NAMED("e⁰ is 1", grade_causal_mask, [](const Tensor& q, const Tensor& k, const Tensor& v) {
    return matmul(softmax(masked_fill(causal_scores(q, k), causal_later_keys(q, k), 0)), v);
  });
  const auto scaled = [](auto factor) {
    return [](const Tensor& q, const Tensor& k, const Tensor& v) {
      const Tensor s = mul(causal_scores(q, k), decltype(factor){}(k));
      return matmul(softmax(masked_fill(s, causal_later_keys(q, k), causal_no_score)), v);
    };
  };
  CHECK_NAMED("not divided by √K", grade_causal_mask,
              scaled([](const Tensor& k) { return std::sqrt(static_cast<double>(k.dim(1))); }));
  CHECK_NAMED("divided by K, not", grade_causal_mask,
              scaled([](const Tensor& k) { return 1 / std::sqrt(static_cast<double>(k.dim(1))); }));
  CHECK_NAMED("the number of keys", grade_causal_mask, scaled([](const Tensor& k) {
                return std::sqrt(static_cast<double>(k.dim(1)) / static_cast<double>(k.dim(0)));
              }));
  CHECK_NAMED("Covering the result", grade_causal_mask,
              [](const Tensor& q, const Tensor& k, const Tensor& v) {
                const Tensor p = causal_naive_softmax(causal_with_added(q, k, causal_no_score));
                return matmul(masked_fill(p, causal_later_keys(q, k), 0), v);
              });
  CHECK_NAMED("exp overflows", grade_causal_mask,
              [](const Tensor& q, const Tensor& k, const Tensor& v) {
                const Tensor e =
                    exp(masked_fill(causal_scores(q, k), causal_later_keys(q, k), causal_no_score));
                const Tensor total = sum(e, {1}, true);
                return matmul(e / where(causal_sees_nothing(q, k), Tensor::scalar(1), total), v);
              });
}

}  // namespace
}  // namespace heed::course
