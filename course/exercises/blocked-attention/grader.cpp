#include "course/grader/grader.h"

#include <algorithm>
#include <cmath>

#include "core/observer.h"
#include "course/exercises/blocked-attention/blocks.h"

namespace heed::course {

[[gnu::weak]] Tensor blocked_attention(const Tensor& q, const NextBlock& next);

namespace {

// Notices an operation whose result has at least so many elements.
struct LargeResults final : Observer {
  int64_t least = 0;
  bool found = false;
  void op_finished(const char*, const Tensor& y, std::span<const Tensor>,
                   const Node*) noexcept override {
    found = found || y.size() >= least;
  }
};

}  // namespace

void grade_blocked_attention(Grader& g, decltype(&blocked_attention) answer) {
  const auto check = [&](std::vector<int64_t> blocks, int64_t queries, double high) {
    const int64_t width = g.size(5, 7), value_width = g.size(2, 3);
    int64_t keys = 0;
    for (const int64_t count : blocks) keys += count;
    LargeResults large;
    large.least = queries * keys;
    const auto op = [&](Tensors x) {
      size_t block = 0;
      int64_t first = 0;
      const NextBlock next = [&](Tensor& k, Tensor& v) {
        if (block == blocks.size()) return false;
        k = slice(x[1], 0, first, first + blocks[block]);
        v = slice(x[2], 0, first, first + blocks[block]);
        first += blocks[block++];
        return true;
      };
      const ObserverScope here(large);
      return answer(x[0], next);
    };
    // The softmax of all scores, of which the largest is subtracted.
    const auto definition = [=](Arrays x, const Index& i) {
      std::vector<double> scores;
      for (int64_t j = 0; j < keys; ++j)
        scores.push_back(sum_over(width,
                                  [&](int64_t c) {
                                    return x[0](i.with(1, c)) * x[1](Index{{j, c}, 2});
                                  }) /
                         std::sqrt(static_cast<double>(width)));
      const double largest = *std::max_element(scores.begin(), scores.end());
      const auto e = [&](int64_t j) { return std::exp(scores[static_cast<size_t>(j)] - largest); };
      return sum_over(keys, [&](int64_t j) { return e(j) * x[2](i.with(0, j)); }) /
             sum_over(keys, e);
    };
    g.check({.name = fmt::format("attention of q {} to {} keys in {} blocks", Shape{queries, width},
                                 keys, blocks.size()),
             .inputs = {{queries, width}, {keys, width}, {keys, value_width}},
             .result = {queries, value_width},
             .op = op,
             .definition = definition,
             .low = -high,
             .high = high,
             .arguments = {"q", "k", "v"},
             .differentiable = false});
    g.expect(blocks.size() == 1 || !large.found,
             fmt::format("a tensor of {} elements or more for {} queries and {} keys", large.least,
                         queries, keys));
  };
  check({g.size(4, 6)}, g.size(3, 4), 2);
  check({3, g.size(2, 4), 1, g.size(3, 5)}, g.size(4, 5), 2);
  check({1, 2, 3, 4, 5, 6}, 5, 2);
  check({2, 3, 2}, 4, 60);  // e^s overflows
}

namespace {
namespace blocked_attention_answers {

// An online softmax whose steps may go wrong. The scores are divided by √K, this many times.
struct BlockStep {
  bool corrects_sum = true, corrects_output = true, inverse = false, no_maximum = false;
  bool divides_each = false, undivided = false;
  int halves = 1, sign = 1;
};

template <BlockStep step>
Tensor online(const Tensor& q, const NextBlock& next) {
  const double scale = std::pow(static_cast<double>(q.dim(1)), step.halves / 2.0);
  Tensor m, l, o;
  for (Tensor k, v; next(k, v);) {
    const Tensor s = matmul(q, transpose(k, 0, 1)) / (step.sign * scale);
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

Tensor to_one_block(const Tensor& q, const Tensor& k, const Tensor& v) {
  const double root = std::sqrt(static_cast<double>(q.dim(1)));
  return matmul(softmax(matmul(q, transpose(k, 0, 1)) / root), v);
}

const Exercise blocked_attention_exercise(
    "blocked_attention", grade_blocked_attention, {blocked_attention},
    {{"", online<BlockStep{}>},
     {"exp overflows for large scores, and ∞ / ∞ is NaN. Subtract the maximum so far.",
      online<BlockStep{.no_maximum = true}>},
     {"Only the first block is read.",
      [](const Tensor& q, const NextBlock& next) {
        Tensor k, v;
        next(k, v);
        return to_one_block(q, k, v);
      }},
     {"Only the last block counts: keep the results of earlier blocks.",
      [](const Tensor& q, const NextBlock& next) {
        Tensor o;
        for (Tensor k, v; next(k, v);) o = to_one_block(q, k, v);
        return o;
      }},
     {"Each block has its own softmax, and the results are averaged. The weights of all keys "
      "together must add up to 1.",
      [](const Tensor& q, const NextBlock& next) {
        Tensor o;
        double count = 0;
        for (Tensor k, v; next(k, v); ++count)
          o = o ? o + to_one_block(q, k, v) : to_one_block(q, k, v);
        return o / count;
      }},
     {"Where the maximum grows, neither the sum nor the output so far is corrected: multiply "
      "both by exp(m - m').",
      online<BlockStep{.corrects_sum = false, .corrects_output = false}>},
     {"Where the maximum grows, multiply the sum so far by exp(m - m'), as you multiply the "
      "output.",
      online<BlockStep{.corrects_sum = false}>},
     {"Where the maximum grows, multiply the output so far by exp(m - m'), as you multiply the "
      "sum.",
      online<BlockStep{.corrects_output = false}>},
     {"The correction is exp(m' - m); it must be exp(m - m'), at most 1.",
      online<BlockStep{.inverse = true}>},
     {"The output is not divided by the sum of the exponentials.",
      online<BlockStep{.undivided = true}>},
     {"The output is divided by the sum after each block. Divide once, at the end.",
      online<BlockStep{.divides_each = true}>},
     {"The scores are not divided by √K.", online<BlockStep{.halves = 0}>},
     {"The scores are divided by K, not by its root.", online<BlockStep{.halves = 2}>},
     {"The scores are negated: keys that fit a query less get the larger weights.",
      online<BlockStep{.sign = -1}>},
     {"The scores of all keys exist at once. Keep only the maximum, the sum and the output from "
      "one block to the next.",
      [](const Tensor& q, const NextBlock& next) {
        std::vector<Tensor> keys, values;
        for (Tensor k, v; next(k, v);) keys.push_back(k), values.push_back(v);
        return to_one_block(q, concat(keys, 0), concat(values, 0));
      }}});

}  // namespace blocked_attention_answers
}  // namespace
}  // namespace heed::course
