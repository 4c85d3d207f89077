#include "nn/search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>

#include "core/check.h"
#include "core/parallel_for.h"
#include "core/scope.h"

namespace heed::inline HEED_REAL {
namespace {

// The maximum of the logits, if they define probabilities.
double checked_maximum(const char* operation, std::span<const real> logits) {
  constexpr real infinity = std::numeric_limits<real>::infinity();
  real maximum = -infinity;
  for (size_t v = 0; v < logits.size(); ++v) {
    check(logits[v] < infinity, "{}: the logit of token {} is {}; the model has diverged",
          operation, v, logits[v]);
    maximum = std::max(maximum, logits[v]);
  }
  check(maximum > -infinity, "{}: no token has a finite logit", operation);
  return maximum;
}

double log_sum_exp(const char* operation, std::span<const real> logits) {
  const double maximum = checked_maximum(operation, logits);
  double sum = 0;
  for (real x : logits) sum += std::exp(static_cast<double>(x) - maximum);
  return maximum + std::log(sum);
}

double penalised(double log_probability, int64_t length, double penalty) {
  return log_probability / std::pow((5 + static_cast<double>(length)) / 6, penalty);
}

struct Candidate {
  int64_t parent;  // row of the hypothesis it extends
  int32_t token;
  double token_log_probability;
  double log_probability;  // of the hypothesis with the token
};

// The search of one example.
struct Beam {
  int64_t max_length;
  std::vector<Hypothesis> growing{Hypothesis{}};  // most probable first, all of one length
  std::vector<int64_t> parents;   // of each: the row of the previous call that it extends
  std::vector<Hypothesis> found;  // at most n_best, best first

  // `length` counts the end token, if the hypothesis has one.
  void finish(Hypothesis hypothesis, int64_t length, const SearchOptions& o) {
    hypothesis.score = penalised(hypothesis.log_probability, length, o.length_penalty);
    const auto at = std::find_if(found.begin(), found.end(), [&](const Hypothesis& other) {
      return hypothesis.score > other.score;
    });
    found.insert(at, std::move(hypothesis));
    if (std::ssize(found) > o.n_best) found.pop_back();
  }
  void cut_off(const Hypothesis& hypothesis, const SearchOptions& o) {
    finish(hypothesis, std::ssize(hypothesis.tokens), o);
  }
  // Returns whether no growing hypothesis can have a higher score than those found. Further tokens
  // only lower log p, and the penalty helps most at the longest or the shortest length.
  bool decided(const SearchOptions& o) const {
    if (growing.empty()) return true;
    const Hypothesis& first = growing.front();
    const int64_t length = o.length_penalty > 0 ? max_length : std::ssize(first.tokens);
    return std::ssize(found) == o.n_best &&
           found.back().score >= penalised(first.log_probability, length, o.length_penalty);
  }
  bool ended(const SearchOptions& o) const {
    return decided(o) || std::ssize(growing.front().tokens) == max_length;
  }
};

std::vector<int32_t> with_prompt(const Hypothesis& hypothesis, const SearchOptions& o) {
  std::vector<int32_t> tokens = o.prompt;
  tokens.insert(tokens.end(), hypothesis.tokens.begin(), hypothesis.tokens.end());
  return tokens;
}

// The most probable extensions of all growing hypotheses that the rules allow, most probable first.
// Ties: by row, then by token. A hypothesis that nothing may follow is cut off.
std::vector<Candidate> best_extensions(Beam& beam, const real* logits, int64_t vocabulary,
                                       const SearchOptions& o) {
  std::vector<Candidate> all;
  for (size_t row = 0; row < beam.growing.size(); ++row) {
    const std::span<const real> own(logits + static_cast<int64_t>(row) * vocabulary,
                                    static_cast<size_t>(vocabulary));
    const Hypothesis& hypothesis = beam.growing[row];
    const double log_sum = log_sum_exp("beam search", own);
    const double base = hypothesis.log_probability - log_sum;
    std::vector<bool> allowed;
    if (!o.rules.empty()) allowed = o.rules.allowed(with_prompt(hypothesis, o), vocabulary);
    const size_t before = all.size();
    for (int64_t v = 0; v < vocabulary; ++v) {
      if (!allowed.empty() && !allowed[static_cast<size_t>(v)]) continue;
      const auto logit = static_cast<double>(own[static_cast<size_t>(v)]);
      all.push_back(
          {static_cast<int64_t>(row), static_cast<int32_t>(v), logit - log_sum, base + logit});
    }
    if (all.size() == before) beam.cut_off(hypothesis, o);
  }
  const auto better = [](const Candidate& a, const Candidate& b) {
    if (a.log_probability != b.log_probability) return a.log_probability > b.log_probability;
    return std::pair(a.parent, a.token) < std::pair(b.parent, b.token);
  };
  // Twice as many candidates as the beam is wide: some of them may be complete.
  const auto kept = std::min(all.size(), static_cast<size_t>(2 * o.beam));
  std::partial_sort(all.begin(), all.begin() + static_cast<ptrdiff_t>(kept), all.end(), better);
  all.resize(kept);
  return all;
}

// `logits`: those of the beam's hypotheses, whose rows begin at `first_row`.
void extend(Beam& beam, const Tensor& logits, int64_t first_row, const SearchOptions& o) {
  const int64_t vocabulary = logits.dim(1);
  const real* const own = logits.data() + first_row * vocabulary;
  std::vector<Hypothesis> next;
  beam.parents.clear();
  for (const Candidate& c : best_extensions(beam, own, vocabulary, o)) {
    if (static_cast<int64_t>(next.size()) == o.beam) break;
    Hypothesis extended = beam.growing[static_cast<size_t>(c.parent)];
    extended.log_probability = c.log_probability;
    extended.token_log_probabilities.push_back(c.token_log_probability);
    if (c.token == o.end) {
      const auto length = static_cast<int64_t>(extended.tokens.size()) + 1;
      beam.finish(std::move(extended), length, o);
      if (o.beam == 1) return beam.growing.clear();  // greedy: the most probable token decides
      continue;
    }
    extended.tokens.push_back(c.token);
    next.push_back(std::move(extended));
    beam.parents.push_back(first_row + c.parent);
  }
  beam.growing = std::move(next);
}

}  // namespace

std::vector<std::vector<Hypothesis>> n_best_search(const NextLogits& next, int64_t examples,
                                                   const SearchOptions& o) {
  check(o.beam >= 1 && o.max_length >= 0 && std::isfinite(o.length_penalty),
        "beam search: beam {} must be at least 1, max_length {} at least 0, length_penalty {} "
        "finite",
        o.beam, o.max_length, o.length_penalty);
  check(!o.prompt.empty(), "beam search: no prompt");
  check(o.n_best >= 1 && o.n_best <= o.beam, "beam search: n_best {} must be 1 … beam, which is {}",
        o.n_best, o.beam);
  check(o.max_lengths.empty() || std::ssize(o.max_lengths) == examples,
        "beam search: {} maximum lengths for {} examples", o.max_lengths.size(), examples);
  ScopeGuard here;
  here->gradients = here->training = false;
  std::vector<Beam> beams(static_cast<size_t>(examples));
  for (size_t e = 0; e < beams.size(); ++e) {
    beams[e].max_length = o.max_lengths.empty() ? o.max_length : o.max_lengths[e];
    beams[e].parents = {static_cast<int64_t>(e)};
  }
  for (int64_t length = 0;; ++length) {
    std::vector<Beam*> open;
    std::vector<int64_t> parents;  // of all rows of the batch
    for (Beam& beam : beams) {
      if (beam.ended(o)) continue;
      open.push_back(&beam);
      parents.insert(parents.end(), beam.parents.begin(), beam.parents.end());
    }
    if (open.empty()) break;
    Ids tokens = Ids::empty({std::ssize(parents), std::ssize(o.prompt) + length});
    int32_t* to = tokens.mutable_data();
    for (const Beam* beam : open)
      for (const Hypothesis& hypothesis : beam->growing)
        for (const int32_t token : with_prompt(hypothesis, o)) *to++ = token;
    const Tensor logits = next(tokens, parents);
    int64_t row = 0;
    for (Beam* beam : open) {
      const auto count = static_cast<int64_t>(beam->growing.size());
      extend(*beam, logits, row, o);
      row += count;
    }
  }
  std::vector<std::vector<Hypothesis>> results;
  for (Beam& beam : beams) {
    for (const Hypothesis& hypothesis : beam.growing) beam.cut_off(hypothesis, o);
    results.push_back(std::move(beam.found));
  }
  return results;
}

std::vector<Hypothesis> beam_search(const NextLogits& next, int64_t examples,
                                    const SearchOptions& o) {
  SearchOptions best = o;
  best.n_best = 1;
  std::vector<Hypothesis> results;
  for (std::vector<Hypothesis>& found : n_best_search(next, examples, best))
    results.push_back(std::move(found.front()));
  return results;
}

std::vector<bool> TokenRules::allowed(std::span<const int32_t> tokens, int64_t vocabulary) const {
  std::vector<bool> result(static_cast<size_t>(vocabulary), true);
  for (const int32_t id : forbidden) result.at(static_cast<size_t>(id)) = false;
  const auto before = static_cast<size_t>(std::max<int64_t>(0, no_repeat_ngram - 1));
  if (no_repeat_ngram == 0 || tokens.size() < before) return result;
  // After the last n - 1 tokens: what followed them where they occurred earlier.
  const std::span<const int32_t> last = tokens.last(before);
  for (size_t i = 0; i + before < tokens.size(); ++i)
    if (std::equal(last.begin(), last.end(), tokens.begin() + static_cast<std::ptrdiff_t>(i)))
      result.at(static_cast<size_t>(tokens[i + before])) = false;
  return result;
}

double log_probability(std::span<const real> logits, int32_t token) {
  return static_cast<double>(logits[static_cast<size_t>(token)]) -
         log_sum_exp("log probability", logits);
}

namespace {

// The `top_k` tokens with the largest logits, 0: all; the largest first, equal ones by id. All of a
// large vocabulary are sorted by 11 bits of the logit at a time, the lowest first (Knuth 1998, "The
// Art of Computer Programming", volume 3, section 5.2.5): about ten times as fast as comparing.
std::vector<int32_t> by_logit(std::span<const real> logits, int64_t top_k) {
  std::vector<int32_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  const auto logit = [&](int32_t token) { return logits[static_cast<size_t>(token)]; };
  const auto precedes = [&](int32_t a, int32_t b) {
    return logit(a) != logit(b) ? logit(a) > logit(b) : a < b;
  };
  if (top_k > 0 && top_k < std::ssize(order)) {
    std::partial_sort(order.begin(), order.begin() + top_k, order.end(), precedes);
    order.resize(static_cast<size_t>(top_k));
    return order;
  }
  constexpr size_t large_vocabulary = 2000;
  if (order.size() < large_vocabulary) {
    std::sort(order.begin(), order.end(), precedes);
    return order;
  }
  using Bits = std::conditional_t<sizeof(real) == 4, uint32_t, uint64_t>;
  constexpr int bits = 8 * sizeof(real), digit_bits = 11;
  constexpr size_t digits = size_t{1} << digit_bits;
  struct Entry {
    Bits key;  // the smaller, the larger the logit
    int32_t token;
  };
  std::vector<Entry> from(order.size()), to(order.size());
  for (const int32_t token : order) {
    const auto value = __builtin_bit_cast(Bits, logit(token) + 0);  // -0 becomes 0
    const bool negative = value >> (bits - 1);
    from[static_cast<size_t>(token)] = {negative ? value : value ^ (Bits(~Bits{0}) >> 1), token};
  }
  for (int shift = 0; shift < bits; shift += digit_bits) {
    const auto digit = [shift](Bits key) { return static_cast<size_t>(key >> shift) % digits; };
    std::array<uint32_t, digits> begin{};  // of each digit's entries
    for (const Entry& entry : from) ++begin[digit(entry.key)];
    std::exclusive_scan(begin.begin(), begin.end(), begin.begin(), 0U);
    for (const Entry& entry : from) to[begin[digit(entry.key)]++] = entry;
    std::swap(from, to);
  }
  for (size_t i = 0; i < order.size(); ++i) order[i] = from[i].token;
  return order;
}

}  // namespace

int32_t sample(std::span<const real> logits, const SamplingOptions& o, double uniform) {
  check(!logits.empty(), "sample: no logits");
  check(o.temperature >= 0 && std::isfinite(o.temperature) && o.top_k >= 0 && o.top_p > 0 &&
            o.top_p <= 1,
        "sample: temperature {} and top k {} must not be negative, top p {} must be in (0, 1]",
        o.temperature, o.top_k, o.top_p);
  const double maximum = checked_maximum("sample", logits);
  if (o.temperature == 0)
    return static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
  const std::vector<int32_t> order = by_logit(logits, o.top_k);
  std::vector<double> weights(order.size());
  parallel_for(std::ssize(order), chunk_elements / 16, [&](int64_t first, int64_t last) {
    for (auto i = static_cast<size_t>(first); i < static_cast<size_t>(last); ++i)
      weights[i] = std::exp((logits[static_cast<size_t>(order[i])] - maximum) / o.temperature);
  });
  double total = 0;
  for (const double weight : weights) total += weight;
  size_t kept = 0;
  double sum = 0;
  while (kept < weights.size() && sum < o.top_p * total) sum += weights[kept++];
  double left = uniform * sum;
  for (size_t i = 0; i < kept; ++i)
    if ((left -= weights[i]) < 0) return order[i];
  return order[kept - 1];
}

}  // namespace heed::inline HEED_REAL
