// The exercise top-p: its solution, its stub, and the mistakes that its grader names.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/ops.h"
#include "tests/course/exercises/graded.h"

namespace heed::course {

void grade_top_p(Grader& g, Tensor (*nucleus)(const Tensor& logits, double p));

namespace {

namespace top_p_stub {
using namespace heed;
#include "course/exercises/top-p/exercise.cpp"
}  // namespace top_p_stub

namespace top_p_solution {
using namespace heed;
#include "tests/course/solutions/top-p.cpp"
}  // namespace top_p_solution

// A walk through the tokens of a row that may go wrong.
struct NucleusWalk {
  bool ascending = false, by_index = false, later_first = false;
  bool without_last = false;  // leaves out the token that reaches p
  bool beyond = false;        // goes on where the sum is p
  bool divided = true;
};

template <NucleusWalk walk>
Tensor nucleus_by(const Tensor& logits, double p) {
  const Tensor probabilities = softmax(logits);
  Tensor result = Tensor::zeros(logits.shape());
  const int64_t width = logits.dim(1);
  std::vector<int64_t> order(static_cast<size_t>(width));
  for (int64_t n = 0; n < logits.dim(0); ++n) {
    const real* const row = probabilities.data() + n * width;
    real* const to = result.mutable_data() + n * width;
    std::iota(order.begin(), order.end(), int64_t{0});
    if (walk.later_first) std::reverse(order.begin(), order.end());
    if (!walk.by_index)
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        return walk.ascending ? row[a] < row[b] : row[a] > row[b];
      });
    double sum = 0, kept = 0;
    for (const int64_t v : order) {
      if (walk.beyond ? sum > p : sum >= p) break;
      sum += static_cast<double>(row[v]);
      if (walk.without_last && sum > p) break;
      to[v] = row[v];
      kept += static_cast<double>(row[v]);
    }
    if (walk.divided)
      for (int64_t v = 0; v < width; ++v) to[v] /= static_cast<real>(kept);
  }
  return result;
}

TEST_CASE("exercise top-p: the solution passes") {
  CHECK(graded(grade_top_p, top_p_solution::heed::course::nucleus) == "");
  CHECK(graded(grade_top_p, nucleus_by<NucleusWalk{}>) == "");
}

TEST_CASE("exercise top-p: the stub and mistakes are named") {
  CHECK_NAMED("nothing is computed yet", grade_top_p, top_p_stub::heed::course::nucleus);
  CHECK_NAMED("No token is left out", grade_top_p,
              [](const Tensor& logits, double) { return softmax(logits); });
  CHECK_NAMED("do not add up to 1", grade_top_p, nucleus_by<NucleusWalk{.divided = false}>);
  CHECK_NAMED("with which the sum reaches p is left out", grade_top_p,
              nucleus_by<NucleusWalk{.without_last = true}>);
  CHECK_NAMED("Where the sum is exactly p", grade_top_p, nucleus_by<NucleusWalk{.beyond = true}>);
  CHECK_NAMED("The least probable tokens", grade_top_p, nucleus_by<NucleusWalk{.ascending = true}>);
  CHECK_NAMED("in the order of their indices", grade_top_p,
              nucleus_by<NucleusWalk{.by_index = true}>);
  CHECK_NAMED("the higher index is taken first", grade_top_p,
              nucleus_by<NucleusWalk{.later_first = true}>);
  CHECK_NAMED("compared with p on its own", grade_top_p, [](const Tensor& logits, double p) {
    const Tensor all = softmax(logits);
    Tensor kept = Tensor::zeros(all.shape());
    for (int64_t i = 0; i < all.size(); ++i)
      kept.mutable_data()[i] = all.data()[i] >= p ? all.data()[i] : 0;
    return kept / sum(kept, {1}, true);
  });
  CHECK_NAMED("a second time", grade_top_p, [](const Tensor& logits, double p) {
    const Tensor kept = nucleus_by<NucleusWalk{.divided = false}>(logits, p);
    Tensor exponentials = exp(kept);
    for (int64_t i = 0; i < kept.size(); ++i)
      if (kept.data()[i] == 0) exponentials.mutable_data()[i] = 0;
    return exponentials / sum(exponentials, {1}, true);
  });
  CHECK_NAMED("Every row has the tokens of the first row", grade_top_p,
              [](const Tensor& logits, double p) {
                const Tensor nuclei = nucleus_by<NucleusWalk{}>(logits, p), all = softmax(logits);
                Tensor kept = Tensor::zeros(all.shape());
                for (int64_t i = 0; i < all.size(); ++i)
                  kept.mutable_data()[i] = nuclei.data()[i % all.dim(1)] > 0 ? all.data()[i] : 0;
                return kept / sum(kept, {1}, true);
              });
  CHECK_NAMED("Not a number", grade_top_p, [](const Tensor& logits, double p) {
    const Tensor e = exp(logits);
    return nucleus_by<NucleusWalk{}>(log(e / sum(e, {1}, true)), p);
  });
}

}  // namespace
}  // namespace heed::course
