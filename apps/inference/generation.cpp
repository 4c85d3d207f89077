#include "apps/inference/generation.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>

#include "apps/inference/padded.h"
#include "core/ops.h"
#include "core/random.h"
#include "core/ranks.h"
#include "core/scope.h"

namespace heed {
int64_t max_output_length(int64_t source_length, int64_t positions) {
  const int64_t length = 2 * source_length + 10;
  return positions > 0 ? std::min(length, positions) : length;
}

namespace {

std::vector<std::vector<Hypothesis>> search(const Seq2Seq& model, const Vocabulary& target,
                                            const Inputs& batch, const OutputOptions& options) {
  const Shape& shape = batch.features ? batch.features.shape() : batch.source.shape();
  const int64_t sources = shape[0], longest = shape[1];
  SearchOptions search;
  search.prompt = {target.begin()};
  search.end = target.end();
  search.beam = options.beam;
  search.length_penalty = options.length_penalty;
  search.n_best = options.n_best;
  search.rules = options.rules;
  search.max_length = options.max_length;
  if (options.max_length == 0)
    for (int64_t i = 0; i < sources; ++i)
      search.max_lengths.push_back(max_output_length(
          batch.source_lengths ? batch.source_lengths[i] : longest, options.positions));
  return n_best_search(next_logits(model, batch, {.cache = options.cache}), sources, search);
}

// A hypothesis without its lists.
struct HypothesisHead {
  size_t source;
  size_t tokens, token_log_probabilities;
  double log_probability, score;
};

// Gives all ranks what each has found. Those of one source are on one rank.
void share_hypotheses(std::vector<std::vector<Hypothesis>>& results) {
  if (rank_count() == 1) return;
  std::vector<HypothesisHead> heads;
  std::vector<int32_t> tokens;
  std::vector<double> log_probabilities;
  for (size_t i = 0; i < results.size(); ++i) {
    for (const Hypothesis& h : results[i]) {
      heads.push_back(
          {i, h.tokens.size(), h.token_log_probabilities.size(), h.log_probability, h.score});
      tokens.insert(tokens.end(), h.tokens.begin(), h.tokens.end());
      log_probabilities.insert(log_probabilities.end(), h.token_log_probabilities.begin(),
                               h.token_log_probabilities.end());
    }
    results[i].clear();
  }
  tokens = concatenated(std::move(tokens));
  log_probabilities = concatenated(std::move(log_probabilities));
  auto token = tokens.cbegin();
  auto log_probability = log_probabilities.cbegin();
  for (const HypothesisHead& head : concatenated(std::move(heads))) {
    const auto last_token = token + static_cast<ptrdiff_t>(head.tokens);
    const auto last = log_probability + static_cast<ptrdiff_t>(head.token_log_probabilities);
    results[head.source].push_back(
        {{token, last_token}, {log_probability, last}, head.log_probability, head.score});
    token = last_token;
    log_probability = last;
  }
}

}  // namespace

std::vector<Hypothesis> outputs(const Seq2Seq& model, const Vocabulary& target, const Inputs& batch,
                                const OutputOptions& options) {
  std::vector<Hypothesis> results;
  for (std::vector<Hypothesis>& found : search(model, target, batch, options))
    results.push_back(std::move(found.front()));
  return results;
}

std::vector<std::vector<Hypothesis>> n_best_outputs(const Seq2Seq& model, const Vocabulary& target,
                                                    std::span<const Sequence> sources,
                                                    const OutputOptions& options) {
  std::vector<std::vector<Hypothesis>> results(sources.size());
  for_each_batch(sources, options.batch_size, [&](std::span<const size_t> chosen) {
    const Padded batch = padded(sources, chosen);
    Inputs inputs;
    inputs.source = batch.ids;
    inputs.source_lengths = batch.lengths;
    std::vector<std::vector<Hypothesis>> found = search(model, target, inputs, options);
    for (size_t i = 0; i < chosen.size(); ++i) results[chosen[i]] = std::move(found[i]);
  });
  share_hypotheses(results);
  return results;
}

namespace {

// A continuation being generated. In a batch all have the same number of tokens, so the rest of a
// longer prompt is read while the continuation of a shorter one is generated.
struct Continuation {
  size_t index;  // among all continuations
  const Sequence* prompt;
  Random random;
  Sequence tokens;  // of the prompt, then generated ones
  int64_t parent;   // its row in the previous batch
  bool scored;      // with log probabilities
  Hypothesis generated = {};

  // Appends a token. Returns whether the continuation has ended.
  bool extend(std::span<const real> logits, int32_t end, const ContinuationOptions& options) {
    if (tokens.size() < prompt->size()) {
      tokens.push_back((*prompt)[tokens.size()]);
      return false;
    }
    const double uniform = random.uniform();
    const std::optional<int32_t> token = next(logits, uniform, options);
    if (!token) return true;
    if (scored) {
      generated.token_log_probabilities.push_back(log_probability(logits, *token));
      generated.log_probability += generated.token_log_probabilities.back();
    }
    if (*token == end) return true;
    tokens.push_back(*token);
    generated.tokens.push_back(*token);
    return std::ssize(generated.tokens) == options.max_length;
  }

 private:
  // Samples a token; none if the rules allow none.
  std::optional<int32_t> next(std::span<const real> logits, double uniform,
                              const ContinuationOptions& options) const {
    if (options.rules.empty()) return sample(logits, options.sampling, uniform);
    const std::vector<bool> allowed = options.rules.allowed(tokens, std::ssize(logits));
    if (std::find(allowed.begin(), allowed.end(), true) == allowed.end()) return {};
    std::vector<real> remaining(logits.begin(), logits.end());
    for (size_t v = 0; v < remaining.size(); ++v)
      if (!allowed[v]) remaining[v] = -std::numeric_limits<real>::infinity();
    return sample(remaining, options.sampling, uniform);
  }
};

Tensor logits_of(const NextLogits& next, const std::vector<Continuation>& active) {
  Ids tokens = Ids::empty({std::ssize(active), std::ssize(active[0].tokens)});
  std::vector<int64_t> parents;
  int32_t* to = tokens.mutable_data();
  for (const Continuation& c : active) {
    to = std::copy(c.tokens.begin(), c.tokens.end(), to);
    parents.push_back(c.parent);
  }
  return next(tokens, parents);
}

// Generates until every continuation of the batch has ended.
void generate(const LanguageModel& model, const Vocabulary& vocabulary,
              std::vector<Continuation> active, const ContinuationOptions& options,
              std::vector<std::vector<Hypothesis>>& results) {
  const NextLogits next = next_logits(model, {.cache = options.cache, .window = options.window});
  while (!active.empty()) {
    const Tensor logits = logits_of(next, active);
    const auto width = static_cast<size_t>(logits.dim(1));
    std::vector<Continuation> still_active;
    for (size_t row = 0; row < active.size(); ++row) {
      Continuation& c = active[row];
      if (c.extend(logits.values().subspan(row * width, width), vocabulary.end(), options)) {
        results[c.index].push_back(std::move(c.generated));
      } else {
        c.parent = static_cast<int64_t>(row);
        still_active.push_back(std::move(c));
      }
    }
    active = std::move(still_active);
  }
}

// Returns one hypothesis for each continuation.
std::vector<std::vector<Hypothesis>> continue_prompts(const LanguageModel& model,
                                                      const Vocabulary& vocabulary,
                                                      std::span<const Sequence> prompts,
                                                      const ContinuationOptions& options,
                                                      bool scored) {
  for (const Sequence& prompt : prompts)
    check(!prompt.empty(), "a language model needs a prompt of at least one token");
  const auto count = static_cast<size_t>(options.count);
  std::vector<std::vector<Hypothesis>> results(prompts.size() * count);
  if (options.max_length == 0) {
    for (std::vector<Hypothesis>& each : results) each.emplace_back();
    return results;
  }
  const auto step = static_cast<size_t>(std::max<int64_t>(1, options.batch_size));
  const RankShare own(static_cast<int64_t>((results.size() + step - 1) / step));
  for (int64_t batch = own.first; batch < own.last; ++batch) {
    const size_t first = static_cast<size_t>(batch) * step;
    const size_t last = std::min(results.size(), first + step);
    auto shortest = std::numeric_limits<ptrdiff_t>::max();
    for (size_t i = first; i < last; ++i)
      shortest = std::min(shortest, std::ssize(prompts[i / count]));
    std::vector<Continuation> active;
    for (size_t i = first; i < last; ++i) {
      const Sequence& prompt = prompts[i / count];
      active.push_back(
          {i, &prompt,
           Random(options.seed, Purpose::generation, 0, 0, static_cast<uint32_t>(i % count)),
           Sequence(prompt.begin(), prompt.begin() + shortest), std::ssize(active), scored});
    }
    generate(model, vocabulary, std::move(active), options, results);
  }
  share_hypotheses(results);
  return results;
}

}  // namespace

std::vector<std::vector<Hypothesis>> scored_continuations(const LanguageModel& model,
                                                          const Vocabulary& vocabulary,
                                                          std::span<const Sequence> prompts,
                                                          const ContinuationOptions& options) {
  std::vector<std::vector<Hypothesis>> samples =
      continue_prompts(model, vocabulary, prompts, options, true);
  std::vector<std::vector<Hypothesis>> results(prompts.size());
  for (size_t i = 0; i < samples.size(); ++i)
    results[i / static_cast<size_t>(options.count)].push_back(std::move(samples[i][0]));
  return results;
}

std::vector<std::vector<Hypothesis>> best_continuations(const LanguageModel& model,
                                                        const Vocabulary& vocabulary,
                                                        std::span<const Sequence> prompts,
                                                        const ContinuationOptions& options) {
  SearchOptions search;
  search.end = vocabulary.end();
  search.max_length = options.max_length;
  search.beam = options.beam;
  search.length_penalty = options.length_penalty;
  search.n_best = options.count;
  search.rules = options.rules;
  std::vector<std::vector<Hypothesis>> results(prompts.size());
  const RankShare own(std::ssize(prompts));
  for (auto i = static_cast<size_t>(own.first); i < static_cast<size_t>(own.last); ++i) {
    search.prompt = prompts[i];
    const DecodingOptions decoding{.cache = options.cache, .window = options.window};
    results[i] = n_best_search(next_logits(model, decoding), 1, search)[0];
  }
  share_hypotheses(results);
  return results;
}

std::vector<Sequence> continuations(const LanguageModel& model, const Vocabulary& vocabulary,
                                    std::span<const Sequence> prompts,
                                    const ContinuationOptions& options) {
  std::vector<Sequence> results;
  for (std::vector<Hypothesis>& each : continue_prompts(model, vocabulary, prompts, options, false))
    results.push_back(std::move(each[0].tokens));
  return results;
}

std::vector<int32_t> predicted_classes(const Classifier& model, const Inputs& batch) {
  ScopeGuard scope_guard;
  scope_guard->gradients = scope_guard->training = false;
  const Tensor logits = model.logits(batch);
  const int64_t width = logits.dim(1);
  std::vector<int32_t> results;
  for (int64_t i = 0; i < logits.dim(0); ++i) {
    const real* row = logits.data() + i * width;
    results.push_back(static_cast<int32_t>(std::max_element(row, row + width) - row));
  }
  return results;
}

namespace {

struct SourceClass {
  size_t source;  // its index
  ClassProbability found;
};

}  // namespace

std::vector<std::vector<ClassProbability>> class_probabilities(const Classifier& model,
                                                               std::span<const Sequence> sources,
                                                               int64_t batch_size) {
  ScopeGuard scope_guard;
  scope_guard->gradients = scope_guard->training = false;
  std::vector<SourceClass> all;
  for_each_batch(sources, batch_size, [&](std::span<const size_t> chosen) {
    const Padded batch = padded(sources, chosen);
    Inputs inputs;
    inputs.input = batch.ids;
    inputs.input_lengths = batch.lengths;
    const Tensor logits = model.logits(inputs);
    const auto classes = static_cast<size_t>(logits.dim(1));
    for (size_t i = 0; i < chosen.size(); ++i) {
      const std::span<const real> row = logits.values().subspan(i * classes, classes);
      std::vector<ClassProbability> found;
      for (int32_t label = 0; label < std::ssize(row); ++label)
        found.push_back({label, std::exp(log_probability(row, label))});
      std::stable_sort(
          found.begin(), found.end(), [&](const ClassProbability& a, const ClassProbability& b) {
            return row[static_cast<size_t>(a.label)] > row[static_cast<size_t>(b.label)];
          });
      for (const ClassProbability& each : found) all.push_back({chosen[i], each});
    }
  });
  std::vector<std::vector<ClassProbability>> results(sources.size());
  for (const SourceClass& each : concatenated(std::move(all)))
    results[each.source].push_back(each.found);
  return results;
}

}  // namespace heed
