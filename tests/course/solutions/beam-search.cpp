#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/ops.h"
#include "course/exercises/beam-search/model.h"

namespace heed::course {

struct Growing {
  std::vector<int> tokens;
  double log_p = 0;
};

// The tokens, without the end token, of the text with the highest score that a beam search finds.
std::vector<int> find_text(const NextLogProbabilities& next, const BeamOptions& options) {
  std::vector<Growing> growing(1);
  std::vector<int> best;
  double best_score = -std::numeric_limits<double>::infinity();
  const auto finish = [&](const Growing& text, double length) {
    const double score = text.log_p / std::pow((5 + length) / 6, options.length_penalty);
    if (score > best_score) std::tie(best, best_score) = std::pair(text.tokens, score);
  };
  for (int length = 0; length < options.max_length && !growing.empty(); ++length) {
    std::vector<Growing> extensions;
    for (const Growing& text : growing) {
      const std::vector<double> log_p = next(text.tokens);
      for (size_t v = 0; v < log_p.size(); ++v) {
        extensions.push_back({text.tokens, text.log_p + log_p[v]});
        extensions.back().tokens.push_back(static_cast<int>(v));
      }
    }
    std::sort(extensions.begin(), extensions.end(),
              [](const Growing& a, const Growing& b) { return a.log_p > b.log_p; });
    growing.clear();
    for (Growing& text : extensions) {
      if (std::ssize(growing) == options.beam) break;
      if (text.tokens.back() != options.end) {
        growing.push_back(std::move(text));
        continue;
      }
      text.tokens.pop_back();
      finish(text, length + 1);
      if (options.beam == 1) return best;
    }
  }
  for (const Growing& text : growing) finish(text, options.max_length);
  return best;
}

}  // namespace heed::course
