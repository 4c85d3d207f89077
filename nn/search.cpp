#include "nn/search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/check.h"
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

double log_sum_exp(std::span<const real> logits) {
  const double maximum = checked_maximum("beam search", logits);
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
  double log_probability;
};

// The search of one example.
struct Beam {
  std::vector<Hypothesis> growing{Hypothesis{}};  // most probable first, all of one length
  std::vector<int64_t> parents;  // of each: the row of the previous call that it extends
  Hypothesis best;
  bool complete = false;  // there is a best one

  // `length` counts the end token, if the hypothesis has one.
  void finish(Hypothesis hypothesis, int64_t length, double penalty) {
    hypothesis.score = penalised(hypothesis.log_probability, length, penalty);
    if (!complete || hypothesis.score > best.score) best = std::move(hypothesis);
    complete = true;
  }
  // Whether no growing hypothesis can have a higher score than the best one. Further tokens only
  // lower log p, and the penalty helps most at the longest or the shortest length.
  bool decided(const SearchOptions& o) const {
    if (growing.empty()) return true;
    const Hypothesis& first = growing.front();
    const int64_t length =
        o.length_penalty > 0 ? o.max_length : static_cast<int64_t>(first.tokens.size());
    return complete && best.score >= penalised(first.log_probability, length, o.length_penalty);
  }
};

// The `count` most probable extensions of all growing hypotheses, most probable first. Ties: by
// row, then by token.
std::vector<Candidate> best_extensions(const Beam& beam, const real* logits, int64_t vocabulary,
                                       int64_t count) {
  std::vector<Candidate> all;
  for (size_t row = 0; row < beam.growing.size(); ++row) {
    const std::span<const real> own(logits + static_cast<int64_t>(row) * vocabulary,
                                    static_cast<size_t>(vocabulary));
    const double base = beam.growing[row].log_probability - log_sum_exp(own);
    for (int64_t v = 0; v < vocabulary; ++v)
      all.push_back({static_cast<int64_t>(row), static_cast<int32_t>(v),
                     base + static_cast<double>(own[static_cast<size_t>(v)])});
  }
  const auto better = [](const Candidate& a, const Candidate& b) {
    if (a.log_probability != b.log_probability) return a.log_probability > b.log_probability;
    return std::pair(a.parent, a.token) < std::pair(b.parent, b.token);
  };
  const auto kept = std::min(all.size(), static_cast<size_t>(count));
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
  // Twice as many candidates as the beam is wide: some of them may be complete.
  for (const Candidate& c : best_extensions(beam, own, vocabulary, 2 * o.beam)) {
    if (static_cast<int64_t>(next.size()) == o.beam) break;
    Hypothesis extended = beam.growing[static_cast<size_t>(c.parent)];
    extended.log_probability = c.log_probability;
    if (c.token == o.end) {
      const auto length = static_cast<int64_t>(extended.tokens.size()) + 1;
      beam.finish(std::move(extended), length, o.length_penalty);
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

std::vector<Hypothesis> beam_search(const NextLogits& next, int64_t examples,
                                    const SearchOptions& o) {
  check(o.beam >= 1 && o.max_length >= 0 && std::isfinite(o.length_penalty),
        "beam search: beam {} must be at least 1, max_length {} at least 0, length_penalty {} "
        "finite",
        o.beam, o.max_length, o.length_penalty);
  ScopeGuard here;
  here->gradients = here->training = false;
  std::vector<Beam> beams(static_cast<size_t>(examples));
  for (int64_t e = 0; e < examples; ++e) beams[static_cast<size_t>(e)].parents = {e};
  for (int64_t length = 0; length < o.max_length; ++length) {
    std::vector<Beam*> open;
    std::vector<int64_t> parents;  // of all rows of the batch
    for (Beam& beam : beams) {
      if (beam.decided(o)) continue;
      open.push_back(&beam);
      parents.insert(parents.end(), beam.parents.begin(), beam.parents.end());
    }
    if (open.empty()) break;
    Ids tokens = Ids::empty({static_cast<int64_t>(parents.size()), length + 1});
    int32_t* to = tokens.data();
    for (const Beam* beam : open)
      for (const Hypothesis& hypothesis : beam->growing) {
        *to++ = o.begin;
        to = std::copy(hypothesis.tokens.begin(), hypothesis.tokens.end(), to);
      }
    const Tensor logits = next(tokens, parents);
    int64_t row = 0;
    for (Beam* beam : open) {
      const auto count = static_cast<int64_t>(beam->growing.size());
      extend(*beam, logits, row, o);
      row += count;
    }
  }
  std::vector<Hypothesis> results;
  for (Beam& beam : beams) {
    if (!beam.growing.empty()) {  // cut off, without an end token
      const auto length = static_cast<int64_t>(beam.growing.front().tokens.size());
      beam.finish(beam.growing.front(), length, o.length_penalty);
    }
    results.push_back(std::move(beam.best));
  }
  return results;
}

int32_t sample(std::span<const real> logits, const SamplingOptions& o, double uniform) {
  check(!logits.empty(), "sample: no logits");
  check(o.temperature >= 0 && std::isfinite(o.temperature) && o.top_k >= 0 && o.top_p > 0 &&
            o.top_p <= 1,
        "sample: temperature {} and top k {} must not be negative, top p {} must be in (0, 1]",
        o.temperature, o.top_k, o.top_p);
  const double maximum = checked_maximum("sample", logits);
  if (o.temperature == 0)
    return static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
  std::vector<int32_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return logits[static_cast<size_t>(a)] > logits[static_cast<size_t>(b)];
  });
  if (o.top_k > 0) order.resize(std::min(order.size(), static_cast<size_t>(o.top_k)));
  std::vector<double> weights;
  double total = 0;
  for (int32_t token : order) {
    weights.push_back(std::exp((logits[static_cast<size_t>(token)] - maximum) / o.temperature));
    total += weights.back();
  }
  size_t kept = 0;
  double sum = 0;
  while (kept < weights.size() && sum < o.top_p * total) sum += weights[kept++];
  double left = uniform * sum;
  for (size_t i = 0; i < kept; ++i)
    if ((left -= weights[i]) < 0) return order[i];
  return order[kept - 1];
}

}  // namespace heed::inline HEED_REAL
