#include "core/suggest.h"

#include <algorithm>

namespace heed::inline HEED_REAL {

int edit_distance(std::string_view a, std::string_view b) {
  // row[j] is the distance from the first i characters of a to the first j of b.
  std::vector<int> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    next[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        next[j] = std::min(next[j], before[j - 2] + 1);
    }
    std::swap(before, row);
    std::swap(row, next);
  }
  return row[b.size()];
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  constexpr size_t max_length = 200;  // the distance takes quadratic time
  if (word.size() > max_length) return "";
  std::string best;
  int best_distance = static_cast<int>(word.size());
  for (const std::string& candidate : candidates) {
    const std::string part = last_component(candidate);
    const int whole = edit_distance(word, candidate);
    const int in_other_section = edit_distance(last_component(word), part) + 1;
    // At most one edit for every three characters.
    const bool near = whole <= std::max<int>(1, static_cast<int>(part.size()) / 3) ||
                      in_other_section <= 1 + static_cast<int>(part.size()) / 3;
    const int distance = std::min(whole, in_other_section);
    if (near && distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string found = nearest(word, candidates);
  return found.empty() ? "" : "; did you mean '" + found + "'?";
}

}  // namespace heed::inline HEED_REAL
