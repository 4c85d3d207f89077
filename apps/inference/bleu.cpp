#include "apps/inference/bleu.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>
#include <vector>

#include "apps/inference/white_space.h"
#include "core/check.h"

namespace heed {

namespace {

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

// Returns the offset of each token of a tokenized line, and the offset after the last token.
std::vector<size_t> token_starts(std::string_view tokens) {
  std::vector<size_t> starts{0};
  if (tokens.empty()) return starts;
  for (size_t at = 0; (at = tokens.find(' ', at)) != tokens.npos; ++at) starts.push_back(at + 1);
  starts.push_back(tokens.size() + 1);
  return starts;
}

// An n-gram is a part of the tokenized line.
using Ngrams = std::unordered_map<std::string_view, int64_t>;

Ngrams count_ngrams(std::string_view tokens, const std::vector<size_t>& starts, size_t order) {
  Ngrams counts;
  for (size_t i = 0; i + order < starts.size(); ++i)
    ++counts[tokens.substr(starts[i], starts[i + order] - 1 - starts[i])];
  return counts;
}

void add_pair(const std::string& hypothesis, const std::string& reference, Counts& counts) {
  const std::vector<size_t> starts = token_starts(hypothesis);
  const std::vector<size_t> reference_starts = token_starts(reference);
  counts.hypothesis_length += std::ssize(starts) - 1;
  counts.reference_length += std::ssize(reference_starts) - 1;
  for (size_t order = 1; order <= highest_order; ++order) {
    const Ngrams expected = count_ngrams(reference, reference_starts, order);
    for (const auto& [ngram, count] : count_ngrams(hypothesis, starts, order)) {
      counts.ngrams[order - 1] += count;
      if (const auto found = expected.find(ngram); found != expected.end())
        counts.matches[order - 1] += std::min(count, found->second);
    }
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
    add_pair(tokenize_13a(hypotheses[i]), tokenize_13a(references[i]), counts);
  return score(counts);
}

int64_t outputs_without_4grams(std::span<const std::string> hypotheses) {
  return std::count_if(hypotheses.begin(), hypotheses.end(), [](const std::string& line) {
    return token_starts(tokenize_13a(line)).size() <= highest_order;
  });
}

}  // namespace heed
