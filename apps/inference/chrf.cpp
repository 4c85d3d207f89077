#include "apps/inference/chrf.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "apps/inference/white_space.h"
#include "core/check.h"
#include "core/text.h"

namespace heed {
namespace {

constexpr size_t chrf_orders = 6;
constexpr double beta_squared = 4;

// A text without white space.
struct WithoutSpace {
  std::string text;
  std::vector<size_t> starts;  // of each character, and the end of the text

  explicit WithoutSpace(std::string_view line) {
    for (size_t at = 0, length = 0; at < line.size(); at += length) {
      if ((length = space_length(line.substr(at)))) continue;
      length = std::max<size_t>(1, utf8_length(line.substr(at)));
      starts.push_back(text.size());
      text += line.substr(at, length);
    }
    starts.push_back(text.size());
  }
  // Returns the number of n-grams of this order.
  size_t count(size_t order) const { return starts.size() > order ? starts.size() - order : 0; }
  std::unordered_map<std::string_view, int64_t> ngrams(size_t order) const {
    std::unordered_map<std::string_view, int64_t> counts;
    for (size_t i = 0; i < count(order); ++i)
      ++counts[std::string_view(text).substr(starts[i], starts[i + order] - starts[i])];
    return counts;
  }
};

struct OrderCounts {
  double hypothesis = 0, reference = 0, matches = 0;
};

}  // namespace

double corpus_chrf(std::span<const std::string> hypotheses,
                   std::span<const std::string> references) {
  check(hypotheses.size() == references.size(),
        "chrF: {} hypotheses for {} references: each needs one reference", hypotheses.size(),
        references.size());
  std::array<OrderCounts, chrf_orders> counts;
  for (size_t i = 0; i < hypotheses.size(); ++i) {
    const WithoutSpace hypothesis(hypotheses[i]), reference(references[i]);
    for (size_t n = 1; n <= chrf_orders && reference.count(n) > 0; ++n) {
      OrderCounts& sum = counts[n - 1];
      sum.hypothesis += static_cast<double>(hypothesis.count(n));
      sum.reference += static_cast<double>(reference.count(n));
      const auto expected = reference.ngrams(n);
      for (const auto& [ngram, count] : hypothesis.ngrams(n))
        if (const auto found = expected.find(ngram); found != expected.end())
          sum.matches += static_cast<double>(std::min(count, found->second));
    }
  }
  double precision = 0, recall = 0;
  for (const OrderCounts& sum : counts) {
    if (sum.hypothesis == 0 || sum.reference == 0) continue;
    precision += sum.matches / sum.hypothesis;
    recall += sum.matches / sum.reference;
  }
  if (precision + recall == 0) return 0;
  // The number of orders, which both means are divided by.
  const auto orders =
      static_cast<double>(std::count_if(counts.begin(), counts.end(), [](const OrderCounts& sum) {
        return sum.hypothesis > 0 && sum.reference > 0;
      }));
  precision /= orders;
  recall /= orders;
  return 100 * (1 + beta_squared) * precision * recall / (beta_squared * precision + recall);
}

}  // namespace heed
