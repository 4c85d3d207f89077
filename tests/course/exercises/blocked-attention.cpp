// The exercise blocked-attention: its solution, its stub, and the mistakes that its grader names.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/ops.h"
#include "course/exercises/blocked-attention/blocks.h"
#include "tests/course/exercises/graded.h"

namespace heed::course {

void grade_blocked_attention(Grader& g,
                             Tensor (*blocked_attention)(const Tensor& q, const NextBlock& next));

namespace {

namespace blocked_attention_stub {
using namespace heed;
using course::NextBlock;
#include "course/exercises/blocked-attention/exercise.cpp"
}  // namespace blocked_attention_stub

namespace blocked_attention_solution {
using namespace heed;
using course::NextBlock;
#include "tests/course/solutions/blocked-attention.cpp"
}  // namespace blocked_attention_solution

Tensor blocked_attention(const Tensor& q, const NextBlock& next) {
  return blocked_attention_solution::heed::course::blocked_attention(q, next);
}

// An online softmax whose steps may go wrong.
struct BlockStep {
  bool corrects_sum = true, corrects_output = true, inverse = false, no_maximum = false;
  bool divides_each = false, undivided = false;
};

template <BlockStep step>
Tensor online_attention_by(const Tensor& q, const NextBlock& next) {
  const real root = std::sqrt(static_cast<real>(q.dim(1)));
  Tensor m, l, o;
  for (Tensor k, v; next(k, v);) {
    const Tensor s = matmul(q, transpose(k, 0, 1)) / root;
    Tensor larger = max(m ? concat({s, m}, 1) : s, {1}, true);
    if (step.no_maximum) larger = Tensor::zeros(larger.shape());
    const Tensor e = exp(s - larger), added = sum(e, {1}, true), z = matmul(e, v);
    const Tensor c = !m ? Tensor() : exp(step.inverse ? larger - m : m - larger);
    l = !l ? added : (step.corrects_sum ? l * c : l) + added;
    o = !o ? z : (step.corrects_output ? o * c : o) + z;
    if (step.divides_each) o = o / l;
    m = larger;
  }
  return step.undivided || step.divides_each ? o : o / l;
}

// Attention to one block.
Tensor attention_to_block(const Tensor& q, const Tensor& k, const Tensor& v) {
  return matmul(softmax(matmul(q, transpose(k, 0, 1)) / std::sqrt(static_cast<real>(q.dim(1)))), v);
}

TEST_CASE("exercise blocked-attention: the solution passes") {
  CHECK(graded(grade_blocked_attention, blocked_attention) == "");
  CHECK(graded(grade_blocked_attention, online_attention_by<BlockStep{}>) == "");
}

TEST_CASE("exercise blocked-attention: the stub and mistakes are named") {
  CHECK_NAMED("nothing is computed yet", grade_blocked_attention,
              blocked_attention_stub::heed::course::blocked_attention);
  CHECK_NAMED("neither the sum nor the output", grade_blocked_attention,
              online_attention_by<BlockStep{.corrects_sum = false, .corrects_output = false}>);
  CHECK_NAMED("the sum so far must be", grade_blocked_attention,
              online_attention_by<BlockStep{.corrects_sum = false}>);
  CHECK_NAMED("the output so far must be", grade_blocked_attention,
              online_attention_by<BlockStep{.corrects_output = false}>);
  CHECK_NAMED("The correction is exp(m' - m)", grade_blocked_attention,
              online_attention_by<BlockStep{.inverse = true}>);
  CHECK_NAMED("exp overflows", grade_blocked_attention,
              online_attention_by<BlockStep{.no_maximum = true}>);
  CHECK_NAMED("Divide once, at the end", grade_blocked_attention,
              online_attention_by<BlockStep{.divides_each = true}>);
  CHECK_NAMED("not divided by the sum", grade_blocked_attention,
              online_attention_by<BlockStep{.undivided = true}>);
  CHECK_NAMED("not divided by √K", grade_blocked_attention,
              [](const Tensor& q, const NextBlock& next) {
                return blocked_attention(q * std::sqrt(static_cast<real>(q.dim(1))), next);
              });
  CHECK_NAMED("divided by K", grade_blocked_attention, [](const Tensor& q, const NextBlock& next) {
    return blocked_attention(q / std::sqrt(static_cast<real>(q.dim(1))), next);
  });
}

TEST_CASE("exercise blocked-attention: blocks that are read wrongly are named") {
  CHECK_NAMED("Only the first block", grade_blocked_attention,
              [](const Tensor& q, const NextBlock& next) {
                Tensor k, v;
                next(k, v);
                return attention_to_block(q, k, v);
              });
  CHECK_NAMED("Only the last block", grade_blocked_attention,
              [](const Tensor& q, const NextBlock& next) {
                Tensor o;
                for (Tensor k, v; next(k, v);) o = attention_to_block(q, k, v);
                return o;
              });
  CHECK_NAMED("a softmax of its own", grade_blocked_attention,
              [](const Tensor& q, const NextBlock& next) {
                Tensor o;
                real count = 0;
                for (Tensor k, v; next(k, v); ++count)
                  o = o ? o + attention_to_block(q, k, v) : attention_to_block(q, k, v);
                return o / count;
              });
  CHECK_NAMED("The scores of all keys exist at once", grade_blocked_attention,
              [](const Tensor& q, const NextBlock& next) {
                std::vector<Tensor> keys, values;
                for (Tensor k, v; next(k, v);) keys.push_back(k), values.push_back(v);
                return attention_to_block(q, concat(keys, 0), concat(values, 0));
              });
}

}  // namespace
}  // namespace heed::course
