#include "course/grader/grader.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/observer.h"
#include "course/exercises/blocked-attention/blocks.h"

namespace heed::course {

[[gnu::weak]] Tensor blocked_attention(const Tensor& q, const NextBlock& next);

namespace {

// An online softmax over blocks of these sizes, and how it may go wrong.
struct OnlineAttention {
  std::vector<int64_t> blocks;
  bool corrects_sum = true, corrects_output = true, inverse = false;
  bool unscaled = false, by_width = false, undivided = false, divides_each = false;
  bool mean_of_blocks = false, only_first = false, only_last = false, no_maximum = false;

  double operator()(Arrays x, const Index& i) const {
    const int64_t width = x[0].shape[1];
    const auto score = [&](int64_t j) {
      const double dot = sum_over(width, [&](int64_t c) {
        return x[0].values[static_cast<size_t>(i[0] * width + c)] *
               x[1].values[static_cast<size_t>(j * width + c)];
      });
      const auto k = static_cast<double>(width);
      return unscaled ? dot : dot / (by_width ? k : std::sqrt(k));
    };
    double maximum = -std::numeric_limits<double>::infinity(), sum = 0, output = 0, outputs = 0;
    int64_t first = 0;
    for (size_t block = 0; block < blocks.size(); ++block) {
      if (mean_of_blocks || (only_last && block + 1 == blocks.size()))
        maximum = -std::numeric_limits<double>::infinity(), sum = output = 0;
      double next = maximum;
      for (int64_t j = first; j < first + blocks[block]; ++j) next = std::max(next, score(j));
      if (no_maximum) next = 0;
      const double correction = block == 0 || maximum == -std::numeric_limits<double>::infinity()
                                    ? 0
                                    : std::exp(inverse ? next - maximum : maximum - next);
      sum *= corrects_sum || block == 0 ? correction : 1;
      output *= corrects_output || block == 0 ? correction : 1;
      for (int64_t j = first; j < first + blocks[block]; ++j) {
        const double e = std::exp(score(j) - next);
        sum += e;
        output += e * x[2].values[static_cast<size_t>(j * x[2].shape[1] + i[1])];
      }
      maximum = next;
      first += blocks[block];
      if (divides_each) output /= sum;
      outputs += output / sum;
      if (only_first) break;
    }
    if (mean_of_blocks) return outputs / static_cast<double>(blocks.size());
    return undivided || divides_each ? output : output / sum;
  }
};

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

void grade_blocked_attention(Grader& g,
                             Tensor (*blocked_attention)(const Tensor& q, const NextBlock& next)) {
  const auto check = [&](std::vector<int64_t> blocks, int64_t queries, double high) {
    const int64_t width = g.size(5, 7), value_width = g.size(2, 3);
    int64_t keys = 0;
    for (const int64_t count : blocks) keys += count;
    LargeResults large;
    large.least = queries * keys;
    const auto mistake = [&](const char* sentence, auto change) {
      OnlineAttention wrong{blocks};
      change(wrong);
      return wrong_value(sentence, wrong);
    };
    using A = OnlineAttention;
    std::vector<Mistake> mistakes{
        mistake("Only the first block is read.", [](A& a) { a.only_first = true; }),
        mistake("Only the last block counts: keep what earlier ones gave.",
                [](A& a) { a.only_last = true; }),
        mistake("Each block has a softmax of its own, and the results are averaged. The weights of "
                "all keys together add up to 1.",
                [](A& a) { a.mean_of_blocks = true; }),
        mistake("Where the maximum grows, neither the sum nor the output so far is corrected: both "
                "are multiplied by exp(m - m').",
                [](A& a) { a.corrects_sum = a.corrects_output = false; }),
        mistake("Where the maximum grows, the sum so far must be multiplied by exp(m - m'), too.",
                [](A& a) { a.corrects_sum = false; }),
        mistake(
            "Where the maximum grows, the output so far must be multiplied by exp(m - m'), too.",
            [](A& a) { a.corrects_output = false; }),
        mistake("The correction is exp(m' - m); it must be exp(m - m'), at most 1.",
                [](A& a) { a.inverse = true; }),
        mistake("The output is not divided by the sum of the exponentials.",
                [](A& a) { a.undivided = true; }),
        mistake("The output is divided by the sum after each block. Divide once, at the end.",
                [](A& a) { a.divides_each = true; }),
        mistake("The scores are not divided by √K.", [](A& a) { a.unscaled = true; }),
        mistake("The scores are divided by K, not by its root.", [](A& a) { a.by_width = true; })};
    if (high > 10)
      mistakes.insert(mistakes.begin(),
                      mistake("exp overflows for large scores, and ∞ / ∞ is NaN. Subtract the "
                              "maximum so far.",
                              [](A& a) { a.no_maximum = true; }));
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
      return blocked_attention(x[0], next);
    };
    g.check({.name = fmt::format("attention of q {} to {} keys in {} blocks", Shape{queries, width},
                                 keys, blocks.size()),
             .inputs = {{queries, width}, {keys, width}, {keys, value_width}},
             .result = {queries, value_width},
             .op = op,
             .definition = OnlineAttention{blocks},
             .low = -high,
             .high = high,
             .arguments = {"q", "k", "v"},
             .differentiable = false},
            mistakes);
    g.expect(blocks.size() == 1 || !large.found,
             fmt::format("a tensor of {} elements or more for {} queries and {} keys", large.least,
                         queries, keys),
             "The scores of all keys exist at once. Keep only the maximum, the sum and the output "
             "from one block to the next.");
  };
  check({g.size(4, 6)}, g.size(3, 4), 2);
  check({3, g.size(2, 4), 1, g.size(3, 5)}, g.size(4, 5), 2);
  check({1, 2, 3, 4, 5, 6}, 5, 2);
  check({2, 3, 2}, 4, 60);  // e^s overflows
}
HEED_GRADE(blocked_attention, blocked_attention);

}  // namespace heed::course
