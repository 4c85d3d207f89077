// The exercise key-value-cache: its solution, its stub, and the mistakes that its grader names.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/ops.h"
#include "tests/course/exercises/graded.h"

namespace heed::course {

void grade_key_value_cache(Grader& g,
                           Tensor (*attend_next)(Tensor& keys, Tensor& values, const Tensor& q,
                                                 const Tensor& k, const Tensor& v),
                           void (*continue_rows)(Tensor& keys, Tensor& values,
                                                 const std::vector<int64_t>& rows));

namespace {

namespace key_value_cache_stub {
using namespace heed;
#include "course/exercises/key-value-cache/exercise.cpp"
}  // namespace key_value_cache_stub

namespace key_value_cache_solution {
using namespace heed;
#include "tests/course/solutions/key-value-cache.cpp"
}  // namespace key_value_cache_solution

namespace cache_stub = key_value_cache_stub::heed::course;
using key_value_cache_solution::heed::course::attend_next;
using key_value_cache_solution::heed::course::continue_rows;

// Attention of new positions to keys and values; hides(query, key, new positions, all positions).
template <class Hides>
Tensor cache_attention(const Tensor& keys, const Tensor& values, const Tensor& q, Hides hides) {
  const int64_t count = q.dim(1), all = keys.dim(1);
  Ids hidden = Ids::full({count, all}, 0);
  for (int64_t i = 0; i < count; ++i)
    for (int64_t j = 0; j < all; ++j) hidden.mutable_data()[i * all + j] = hides(i, j, count, all);
  const Tensor scores = matmul(q, transpose(keys, -1, -2)) / std::sqrt(static_cast<real>(q.dim(2)));
  constexpr real infinity = std::numeric_limits<real>::infinity();
  return matmul(softmax(masked_fill(scores, hidden, -infinity)), values);
}

template <auto hides>
Tensor attend_with(Tensor& keys, Tensor& values, const Tensor& q, const Tensor& k,
                   const Tensor& v) {
  attend_next(keys, values, q, k, v);
  return cache_attention(keys, values, q, hides);
}

TEST_CASE("exercise key-value-cache: the solution passes") {
  CHECK(graded(grade_key_value_cache, attend_next, continue_rows) == "");
}

TEST_CASE("exercise key-value-cache: the stub and mistakes are named") {
  CHECK_NAMED("nothing is computed yet", grade_key_value_cache, cache_stub::attend_next,
              continue_rows);
  CHECK_NAMED("continue_rows has no effect", grade_key_value_cache, attend_next,
              cache_stub::continue_rows);
  CHECK_NAMED(
      "attends only to its own positions", grade_key_value_cache,
      [](Tensor& keys, Tensor& values, const Tensor& q, const Tensor& k, const Tensor& v) {
        keys = values = {};
        return attend_next(keys, values, q, k, v);
      },
      continue_rows);
  CHECK_NAMED(
      "Only the positions of the last call", grade_key_value_cache,
      [](Tensor& keys, Tensor& values, const Tensor& q, const Tensor& k, const Tensor& v) {
        const Tensor z = attend_next(keys, values, q, k, v);
        keys = k, values = v;
        return z;
      },
      continue_rows);
  CHECK_NAMED("each attends to all", grade_key_value_cache,
              attend_with<[](int64_t, int64_t, int64_t, int64_t) { return false; }>, continue_rows);
  CHECK_NAMED(
      "does not attend to itself", grade_key_value_cache,
      attend_with<[](int64_t i, int64_t j, int64_t n, int64_t all) { return i + all - n <= j; }>,
      continue_rows);
  CHECK_NAMED("the first ones of the text", grade_key_value_cache,
              attend_with<[](int64_t i, int64_t j, int64_t, int64_t) { return i < j; }>,
              continue_rows);
  CHECK_NAMED(
      "not divided by √K", grade_key_value_cache,
      [](Tensor& keys, Tensor& values, const Tensor& q, const Tensor& k, const Tensor& v) {
        const Tensor more = q * std::sqrt(static_cast<real>(q.dim(2)));
        return attend_next(keys, values, more, k, v);
      },
      continue_rows);
  CHECK_NAMED(
      "divided by K", grade_key_value_cache,
      [](Tensor& keys, Tensor& values, const Tensor& q, const Tensor& k, const Tensor& v) {
        const Tensor less = q / std::sqrt(static_cast<real>(q.dim(2)));
        return attend_next(keys, values, less, k, v);
      },
      continue_rows);
}

TEST_CASE("exercise key-value-cache: rows that go wrong are named") {
  CHECK_NAMED("Only the keys follow", grade_key_value_cache, attend_next,
              [](Tensor& keys, Tensor& values, const std::vector<int64_t>& rows) {
                const Tensor before = values;
                continue_rows(keys, values, rows);
                const int64_t size = before.dim(1) * before.dim(2);
                std::copy_n(before.data(), std::min(before.dim(0), values.dim(0)) * size,
                            values.mutable_data());
              });
  CHECK_NAMED("The rows go the other way", grade_key_value_cache, attend_next,
              [](Tensor& keys, Tensor& values, const std::vector<int64_t>& rows) {
                const Tensor old_keys = keys, old_values = values;
                continue_rows(keys, values, rows);
                if (old_keys.dim(0) != std::ssize(rows)) return;
                const auto move = [&](const Tensor& from, Tensor& to) {
                  const int64_t size = from.dim(1) * from.dim(2);
                  for (int64_t n = 0; n < from.dim(0); ++n)
                    std::copy_n(from.data() + n * size, size,
                                to.mutable_data() + rows[static_cast<size_t>(n)] * size);
                };
                move(old_keys, keys), move(old_values, values);
              });
  CHECK_NAMED("overwritten before", grade_key_value_cache, attend_next,
              [](Tensor& keys, Tensor& values, const std::vector<int64_t>& rows) {
                if (keys.dim(0) != std::ssize(rows)) return continue_rows(keys, values, rows);
                for (Tensor* x : {&keys, &values}) {
                  const int64_t size = x->dim(1) * x->dim(2);
                  for (int64_t n = 0; n < x->dim(0); ++n)
                    std::copy_n(x->data() + rows[static_cast<size_t>(n)] * size, size,
                                x->mutable_data() + n * size);
                }
              });
}

}  // namespace
}  // namespace heed::course
