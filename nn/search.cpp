#include "nn/search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "core/check.h"
#include "core/inference_scope.h"

namespace heed::inline HEED_REAL {
namespace {

// The maximum of the logits, if they define probabilities.
double checked_maximum(const char* operation, std::span<const real> logits) {
  constexpr real infinity = std::numeric_limits<real>::infinity();
  // With clang a maximum begins with the least finite number, so infinite logits are counted.
  real maximum = -infinity;
  int64_t invalid = 0, possible = 0;
#pragma omp simd reduction(max : maximum) reduction(+ : invalid, possible)
  for (size_t v = 0; v < logits.size(); ++v) {
    invalid += !(logits[v] < infinity);
    possible += logits[v] > -infinity;
    maximum = std::max(maximum, logits[v]);
  }
  for (size_t v = 0; invalid > 0 && v < logits.size(); ++v)
    check(logits[v] < infinity, "{}: the logit of token {} is {}; the model has diverged",
          operation, v, logits[v]);
  check(possible > 0, "{}: no token has a finite logit", operation);
  return maximum;
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
    const double log_sum = log_sum_exp(own, checked_maximum("beam search", own));
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
  const InferenceScope here;
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

double log_sum_exp(std::span<const real> logits, double maximum) {
  double sum = 0;
  for (const real x : logits) sum += std::exp(static_cast<double>(x) - maximum);
  return maximum + std::log(sum);
}

double log_probability(std::span<const real> logits, int32_t token) {
  return static_cast<double>(logits[static_cast<size_t>(token)]) -
         log_sum_exp(logits, checked_maximum("log probability", logits));
}

namespace {

// e^x for x ≤ 0 within two units in the last place, 0 below -700: without a call, so that the
// compiler vectorizes the loop around it.
inline double power_of_e(double x) {
  // x = n ln 2 + r, n the nearest integer: the low bits of x log2 e + 1.5 · 2^52. ln 2 in two
  // parts, the first short enough for an exact product.
  constexpr double rounder = 0x1.8p52, log2e = std::numbers::log2e;
  constexpr double ln2 = 0x1.62e42fee00000p-1, rest_of_ln2 = 0x1.a39ef35793c76p-33;
  const double within = std::max(x, -700.0), rounded = within * log2e + rounder;
  const double n = rounded - rounder, r = (within - n * ln2) - n * rest_of_ln2;
  double sum = 1;  // Σ rⁱ / i!
#pragma GCC unroll 13
  for (int i = 13; i > 0; --i) sum = 1 + sum * r * (1.0 / i);
  const int64_t k = __builtin_bit_cast(int64_t, rounded) - __builtin_bit_cast(int64_t, rounder);
  return x < -700 ? 0 : sum * __builtin_bit_cast(double, (k + 1023) << 52);
}

// The tokens in the order of falling logits, equal ones by id, with their weights e^(logit / T)
// relative to the largest. A large vocabulary would take long to sort; so the tokens are divided
// into groups of similar logits, and only a group in which something ends is sorted.
class Ranking {
 public:
  Ranking(std::span<const real> logits, double maximum, double temperature)
      : logits_(logits),
        maximum_(maximum),
        temperature_(temperature),
        groups_(std::clamp<size_t>(logits.size() / 16, 1, 2048)) {
    constexpr real infinity = std::numeric_limits<real>::infinity();
    const auto largest = static_cast<real>(maximum);
    real least = largest;
#pragma omp simd reduction(min : least)
    for (size_t i = 0; i < logits.size(); ++i)
      least = std::min(least, logits[i] == -infinity ? largest : logits[i]);
    // The last group has what is too improbable for most samples.
    const double range = std::clamp(maximum - least, 1e-290, std::max(1e-290, 40 * temperature));
    per_unit_ = static_cast<double>(groups_.size()) / range;
    for_each_block([&](size_t first, size_t count) {
      std::array<double, block> weights;
      std::array<int32_t, block> group_of;
      find_weights(first, count, weights.data());
      find_groups(first, count, group_of.data());
      for (size_t i = 0; i < count; ++i) {
        Group& group = groups_[static_cast<size_t>(group_of[i])];
        group.sum += weights[i];
        ++group.count;
      }
    });
  }

  struct Sum {
    double sum = 0;
    int64_t count = 0;
    int32_t last = 0;  // the token that was added last
  };
  Sum all() const {
    Sum result;
    for (const Group& group : groups_) result.sum += group.sum, result.count += group.count;
    return result;
  }
  // Adds up weights, at least one, until the sum has reached `limit` or it has `count` tokens.
  Sum until(double limit, int64_t count) const {
    Sum result;
    for (size_t g = 0; g < groups_.size(); ++g) {
      const auto& [sum, tokens] = groups_[g];
      if (result.sum + sum < limit && result.count + tokens < count) {
        result.sum += sum, result.count += tokens;
        continue;
      }
      for (const int32_t token : sorted(static_cast<int32_t>(g))) {
        double weight;
        find_weights(static_cast<size_t>(token), 1, &weight);
        result.sum += weight;
        result.last = token;
        if (++result.count == count || result.sum >= limit) return result;
      }
    }
    return result;
  }

 private:
  struct Group {
    double sum = 0;
    int64_t count = 0;
  };
  static constexpr size_t block = 256;

  template <class F>
  void for_each_block(const F& f) const {
    for (size_t first = 0; first < logits_.size(); first += block)
      f(first, std::min(block, logits_.size() - first));
  }
  void find_weights(size_t first, size_t count, double* __restrict to) const {
    const real* const from = logits_.data() + first;
    const double maximum = maximum_, temperature = temperature_;
#pragma omp simd
    for (size_t i = 0; i < count; ++i) to[i] = power_of_e((from[i] - maximum) / temperature);
  }
  void find_groups(size_t first, size_t count, int32_t* __restrict to) const {
    const real* const from = logits_.data() + first;
    const double maximum = maximum_, per_unit = per_unit_;
    const auto last = static_cast<double>(groups_.size() - 1);
#pragma omp simd
    for (size_t i = 0; i < count; ++i)
      to[i] = static_cast<int32_t>(std::min((maximum - from[i]) * per_unit, last));
  }

  std::vector<int32_t> sorted(int32_t group) const {
    std::vector<int32_t> tokens;
    for_each_block([&](size_t first, size_t count) {
      std::array<int32_t, block> group_of;
      find_groups(first, count, group_of.data());
      for (size_t i = 0; i < count; ++i)
        if (group_of[i] == group) tokens.push_back(static_cast<int32_t>(first + i));
    });
    const auto logit = [&](int32_t token) { return logits_[static_cast<size_t>(token)]; };
    std::sort(tokens.begin(), tokens.end(), [&](int32_t a, int32_t b) {
      return logit(a) != logit(b) ? logit(a) > logit(b) : a < b;
    });
    return tokens;
  }

  std::span<const real> logits_;
  double maximum_, temperature_, per_unit_;
  std::vector<Group> groups_;
};

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
  const Ranking ranking(logits, maximum, o.temperature);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const bool cut = o.top_k > 0 && o.top_k < std::ssize(logits);
  const Ranking::Sum most = cut ? ranking.until(infinity, o.top_k) : ranking.all();
  const Ranking::Sum kept = o.top_p < 1 ? ranking.until(o.top_p * most.sum, most.count) : most;
  return ranking.until(std::nextafter(uniform * kept.sum, infinity), kept.count).last;
}

}  // namespace heed::inline HEED_REAL
