#include "apps/support/text_scores.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>
#include <vector>

#include "core/check.h"
#include "core/text.h"

namespace heed {

namespace {

// Returns the length in bytes of the white space character that a text starts with, or 0. White
// space is what Unicode and Python's str.split() define, as in sacreBLEU.
size_t space_length(std::string_view text) {
  constexpr std::string_view single = " \t\n\v\f\r\x1c\x1d\x1e\x1f";
  constexpr std::string_view longer[] = {
      "\xc2\x85",     "\xc2\xa0",                                      // next line, no-break space
      "\xe1\x9a\x80",                                                  // ogham
      "\xe2\x80\xa8", "\xe2\x80\xa9", "\xe2\x80\xaf", "\xe2\x81\x9f",  // separators, narrow, maths
      "\xe3\x80\x80",                                                  // ideographic
  };
  if (text.empty()) return 0;
  if (single.find(text[0]) != single.npos) return 1;
  for (const std::string_view space : longer)
    if (text.starts_with(space)) return space.size();
  if (!text.starts_with("\xe2\x80") || text.size() < 3) return 0;
  const auto last = static_cast<unsigned char>(text[2]);
  return last >= 0x80 && last <= 0x8a ? 3 : 0;  // U+2000 … U+200A: spaces of various widths
}

// A text as a row of units: the tokens of a line with a space between, or characters.
struct Units {
  std::string text;
  std::vector<size_t> starts;  // of each unit, and of one more after the last
  size_t gap;                  // bytes between two units

  // Returns the number of n-grams of this order.
  size_t count(size_t order) const { return starts.size() > order ? starts.size() - order : 0; }
  std::unordered_map<std::string_view, int64_t> ngrams(size_t order) const {
    std::unordered_map<std::string_view, int64_t> counts;
    for (size_t i = 0; i < count(order); ++i)
      ++counts[std::string_view(text).substr(starts[i], starts[i + order] - gap - starts[i])];
    return counts;
  }
};

// Returns how many n-grams of a hypothesis are in its reference; each matches at most as often as
// the reference contains it.
int64_t matches(const Units& hypothesis, const Units& reference, size_t order) {
  const auto expected = reference.ngrams(order);
  int64_t sum = 0;
  for (const auto& [ngram, count] : hypothesis.ngrams(order))
    if (const auto found = expected.find(ngram); found != expected.end())
      sum += std::min(count, found->second);
  return sum;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_stop(char c) { return c == '.' || c == ','; }

// Returns whether c is ASCII punctuation, except ' , - and . which have other rules.
bool is_punctuation(char c) {
  return (c >= '!' && c <= '&') || (c >= '(' && c <= '+') || c == '/' || (c >= ':' && c <= '@') ||
         (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

std::string_view without_trailing_space(std::string_view text) {
  size_t end = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t space = space_length(text.substr(at));
    at += space ? space : 1;
    if (!space) end = at;
  }
  return text.substr(0, end);
}

void replace(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
    text.replace(at, from.size(), to);
}

// Copies a text and separates pairs of characters. `rule` gets each character and the next one. It
// appends the pair with spaces and returns true, and the copy continues after the pair; or it
// returns false.
template <class Rule>
std::string rewritten(const std::string& text, Rule rule) {
  std::string result;
  result.reserve(text.size() + text.size() / 4);
  for (size_t i = 0; i < text.size(); ++i) {
    if (i + 1 < text.size() && rule(text[i], text[i + 1], result))
      ++i;
    else
      result += text[i];
  }
  return result;
}

}  // namespace

std::string tokenize_13a(std::string_view line) {
  std::string text(without_trailing_space(line));
  replace(text, "<skipped>", "");
  replace(text, "-\n", "");  // a word cut at the end of a line
  replace(text, "\n", " ");
  replace(text, "&quot;", "\"");
  replace(text, "&amp;", "&");
  replace(text, "&lt;", "<");
  replace(text, "&gt;", ">");

  std::string spaced = " ";
  for (const char c : text) {
    if (is_punctuation(c))
      spaced += {' ', c, ' '};
    else
      spaced += c;
  }
  spaced += ' ';
  // . and , unless they follow a digit …
  text = rewritten(spaced, [](char a, char b, std::string& out) {
    if (is_digit(a) || !is_stop(b)) return false;
    out += {a, ' ', b, ' '};
    return true;
  });
  // … or precede one; - if it follows a digit.
  spaced = rewritten(text, [](char a, char b, std::string& out) {
    if (!is_stop(a) || is_digit(b)) return false;
    out += {' ', a, ' ', b};
    return true;
  });
  text = rewritten(spaced, [](char a, char b, std::string& out) {
    if (!is_digit(a) || b != '-') return false;
    out += {a, ' ', b, ' '};
    return true;
  });

  std::string tokens;
  bool between = false;
  for (size_t at = 0; at < text.size();) {
    const size_t space = space_length(std::string_view(text).substr(at));
    if (space) {
      between = !tokens.empty();
      at += space;
      continue;
    }
    if (between) tokens += ' ';
    between = false;
    tokens += text[at++];
  }
  return tokens;
}

namespace {

constexpr size_t highest_order = 4;

struct Counts {
  std::array<int64_t, highest_order> matches{}, ngrams{};
  int64_t hypothesis_length = 0, reference_length = 0;
};

Units tokens_of(std::string_view line) {
  Units units{tokenize_13a(line), {0}, 1};
  if (units.text.empty()) return units;
  for (size_t at = 0; (at = units.text.find(' ', at)) != units.text.npos; ++at)
    units.starts.push_back(at + 1);
  units.starts.push_back(units.text.size() + 1);
  return units;
}

void add_pair(const Units& hypothesis, const Units& reference, Counts& counts) {
  counts.hypothesis_length += static_cast<int64_t>(hypothesis.count(1));
  counts.reference_length += static_cast<int64_t>(reference.count(1));
  for (size_t order = 1; order <= highest_order; ++order) {
    counts.ngrams[order - 1] += static_cast<int64_t>(hypothesis.count(order));
    counts.matches[order - 1] += matches(hypothesis, reference, order);
  }
}

double score(const Counts& counts) {
  if (counts.matches[0] == 0 || counts.ngrams.back() == 0) return 0;
  double sum_of_logs = 0, smoothing = 1;
  for (size_t n = 0; n < highest_order; ++n) {
    auto matches = static_cast<double>(counts.matches[n]);
    if (counts.matches[n] == 0) matches = 1 / (smoothing *= 2);
    sum_of_logs += std::log(matches / static_cast<double>(counts.ngrams[n]));
  }
  const double ratio =
      static_cast<double>(counts.reference_length) / static_cast<double>(counts.hypothesis_length);
  return 100 * std::exp(std::min(0.0, 1 - ratio) + sum_of_logs / highest_order);
}

}  // namespace

double corpus_bleu(std::span<const std::string> hypotheses,
                   std::span<const std::string> references) {
  check(hypotheses.size() == references.size(),
        "BLEU: {} hypotheses for {} references: each needs one reference", hypotheses.size(),
        references.size());
  Counts counts;
  for (size_t i = 0; i < hypotheses.size(); ++i)
    add_pair(tokens_of(hypotheses[i]), tokens_of(references[i]), counts);
  return score(counts);
}

int64_t outputs_without_4grams(std::span<const std::string> hypotheses) {
  return std::count_if(hypotheses.begin(), hypotheses.end(), [](const std::string& line) {
    return tokens_of(line).count(highest_order) == 0;
  });
}

namespace {

constexpr size_t chrf_orders = 6;
constexpr double beta_squared = 4;

Units characters_of(std::string_view line) {
  Units units{"", {}, 0};
  for (size_t at = 0, length = 0; at < line.size(); at += length) {
    if ((length = space_length(line.substr(at)))) continue;
    length = std::max<size_t>(1, utf8_length(line.substr(at)));
    units.starts.push_back(units.text.size());
    units.text += line.substr(at, length);
  }
  units.starts.push_back(units.text.size());
  return units;
}

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
    const Units hypothesis = characters_of(hypotheses[i]), reference = characters_of(references[i]);
    for (size_t n = 1; n <= chrf_orders && reference.count(n) > 0; ++n) {
      OrderCounts& sum = counts[n - 1];
      sum.hypothesis += static_cast<double>(hypothesis.count(n));
      sum.reference += static_cast<double>(reference.count(n));
      sum.matches += static_cast<double>(matches(hypothesis, reference, n));
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
