#include "lab/report/text_difference.h"

#include <algorithm>

#include "core/text.h"

namespace heed {

namespace {

constexpr size_t max_units = 400;

// Words with the spaces after them, or characters.
std::vector<std::string> units_of(std::string_view text, bool words) {
  std::vector<std::string> units;
  while (!text.empty()) {
    size_t length = std::max<size_t>(1, utf8_length(text));
    if (words) length = std::min(text.find_first_not_of(' ', text.find(' ')), text.size());
    units.emplace_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return units;
}

bool same(const std::string& a, const std::string& b) {
  const auto word = [](const std::string& text) { return text.substr(0, text.find(' ')); };
  return a == b || (word(a) == word(b) && !word(a).empty());
}

void append(MarkedText& text, const std::string& unit, bool marked) {
  if (!text.empty() && text.back().second == marked)
    text.back().first += unit;
  else
    text.emplace_back(unit, marked);
}

}  // namespace

std::pair<MarkedText, MarkedText> marked_difference(const std::string& a, const std::string& b) {
  const bool words = a.find(' ') != a.npos || b.find(' ') != b.npos;
  const std::vector<std::string> x = units_of(a, words), y = units_of(b, words);
  if (x.size() > max_units || y.size() > max_units) return {{{a, a != b}}, {{b, a != b}}};
  // common[i][j]: length of the longest common subsequence of x from i and y from j
  std::vector<std::vector<size_t>> common(x.size() + 1, std::vector<size_t>(y.size() + 1));
  for (size_t i = x.size(); i-- > 0;)
    for (size_t j = y.size(); j-- > 0;)
      common[i][j] = same(x[i], y[j]) ? common[i + 1][j + 1] + 1
                                      : std::max(common[i + 1][j], common[i][j + 1]);
  MarkedText first, second;
  size_t i = 0, j = 0;
  while (i < x.size() || j < y.size()) {
    if (i < x.size() && j < y.size() && same(x[i], y[j])) {
      append(first, x[i++], false);
      append(second, y[j++], false);
    } else if (j == y.size() || (i < x.size() && common[i + 1][j] >= common[i][j + 1])) {
      append(first, x[i++], true);
    } else {
      append(second, y[j++], true);
    }
  }
  return {first, second};
}

}  // namespace heed
