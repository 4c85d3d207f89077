#include "apps/inference/generation.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/inference_scope.h"
#include "core/ops.h"
#include "core/parallel.h"
#include "core/random.h"
#include "core/stage_observer.h"

namespace heed {

int64_t max_output_length(int64_t source_length, int64_t positions) {
  const int64_t length = 2 * source_length + 10;
  return positions > 0 ? std::min(length, positions) : length;
}

constexpr int64_t source_batch = 32, sample_batch = 64;
constexpr int64_t max_continuation = 500;  // tokens

static int64_t batch_size_of(const GenerationOptions& options, int64_t otherwise) {
  return options.batch_size > 0 ? options.batch_size : otherwise;
}

static SearchOptions search_options(const Vocabulary& vocabulary,
                                    const GenerationOptions& options) {
  SearchOptions search;
  search.end = vocabulary.end();
  search.max_length = options.max_length.value_or(max_continuation);
  search.beam = std::max<int64_t>(1, options.beam);
  search.length_penalty = options.length_penalty;
  search.n_best = options.count;
  search.rules = options.rules;
  return search;
}

Found outputs(const Model& model, const Vocabulary& target, const Inputs& batch,
              const GenerationOptions& options) {
  const Shape& shape = batch.features ? batch.features.shape() : batch.source.shape();
  const int64_t sources = shape[0], longest = shape[1];
  SearchOptions search = search_options(target, options);
  search.prompt = {target.begin()};
  if (!options.max_length)
    for (int64_t i = 0; i < sources; ++i)
      search.max_lengths.push_back(max_output_length(
          batch.source_lengths ? batch.source_lengths[i] : longest, options.positions));
  return n_best_search(next_logits(model, batch, {.cache = options.cache}), sources, search);
}

Found outputs(const Model& model, const Vocabulary& target, std::span<const Sequence> sources,
              const GenerationOptions& options) {
  return found_in_batches(sources, batch_size_of(options, source_batch), BatchOrder::by_length,
                          [&](std::span<const size_t> chosen) {
                            const Padded batch = padded(sources, chosen);
                            Inputs inputs;
                            inputs.source = batch.ids;
                            inputs.source_lengths = batch.lengths;
                            return outputs(model, target, inputs, options);
                          });
}

namespace {

// A sample being generated. In a batch all have the same number of tokens, so the rest of a longer
// prompt is read while the continuation of a shorter one is generated.
struct Sample {
  size_t index;  // in its batch
  const Sequence* prompt;
  Random random;
  Sequence tokens;  // of the prompt, then generated ones
  int64_t parent;   // its row in the previous batch
  Hypothesis generated = {};

  // Appends a token. Returns whether the sample has ended.
  bool extend(std::span<const real> logits, int32_t end, int64_t max_length,
              const GenerationOptions& options) {
    if (tokens.size() < prompt->size()) {
      tokens.push_back((*prompt)[tokens.size()]);
      return false;
    }
    const double uniform = random.uniform();
    const std::optional<int32_t> token = next(logits, uniform, options);
    if (!token) return true;
    if (options.scored) {
      generated.token_log_probabilities.push_back(log_probability(logits, *token));
      generated.log_probability += generated.token_log_probabilities.back();
    }
    if (*token == end) return true;
    tokens.push_back(*token);
    generated.tokens.push_back(*token);
    return std::ssize(generated.tokens) == max_length;
  }

 private:
  // Samples a token; none if the rules allow none.
  std::optional<int32_t> next(std::span<const real> logits, double uniform,
                              const GenerationOptions& options) const {
    if (options.rules.empty()) return sample(logits, options.sampling, uniform);
    const std::vector<bool> allowed = options.rules.allowed(tokens, std::ssize(logits));
    if (std::find(allowed.begin(), allowed.end(), true) == allowed.end()) return {};
    std::vector<real> remaining(logits.begin(), logits.end());
    for (size_t v = 0; v < remaining.size(); ++v)
      if (!allowed[v]) remaining[v] = -std::numeric_limits<real>::infinity();
    return sample(remaining, options.sampling, uniform);
  }
};

Tensor logits_of(const NextLogits& next, const std::vector<Sample>& active) {
  Ids tokens = Ids::empty({std::ssize(active), std::ssize(active[0].tokens)});
  std::vector<int64_t> parents;
  int32_t* to = tokens.mutable_data();
  for (const Sample& each : active) {
    to = std::copy(each.tokens.begin(), each.tokens.end(), to);
    parents.push_back(each.parent);
  }
  return next(tokens, parents);
}

// Generates until every sample of the batch has ended.
Found generated(const Model& model, const Vocabulary& vocabulary, std::vector<Sample> active,
                const GenerationOptions& options) {
  Found results(active.size());
  const int64_t max_length = options.max_length.value_or(max_continuation);
  const NextLogits next = next_logits(model, {.cache = options.cache, .context = options.context});
  while (!active.empty()) {
    const Tensor logits = logits_of(next, active);
    const auto width = static_cast<size_t>(logits.dim(1));
    std::vector<char> ended(active.size());
    const auto extend = [&](int64_t first, int64_t last) {
      for (auto row = static_cast<size_t>(first); row < static_cast<size_t>(last); ++row)
        ended[row] = active[row].extend(logits.values().subspan(row * width, width),
                                        vocabulary.end(), max_length, options);
    };
    const int64_t rows = std::ssize(active);  // shared by threads where there is enough to do
    const int64_t most =
        logits.size() < chunk_elements ? 1 : std::min<int64_t>(thread_count(), rows);
    run_workers(static_cast<int>(most),
                [&](int i) { extend(rows * i / most, rows * (i + 1) / most); });
    std::vector<Sample> still_active;
    for (size_t row = 0; row < active.size(); ++row) {
      Sample& each = active[row];
      if (ended[row]) {
        results[each.index].push_back(std::move(each.generated));
      } else {
        each.parent = static_cast<int64_t>(row);
        still_active.push_back(std::move(each));
      }
    }
    active = std::move(still_active);
    stage_finished("sampling");
  }
  return results;
}

Found samples(const Model& model, const Vocabulary& vocabulary, std::span<const Sequence> prompts,
              const GenerationOptions& options) {
  const auto count = static_cast<size_t>(options.count);
  if (options.max_length == 0) return Found(prompts.size(), std::vector<Hypothesis>(count));
  std::vector<Sequence> starts;  // a prompt for each sample
  for (const Sequence& prompt : prompts) starts.insert(starts.end(), count, prompt);
  Found each = found_in_batches(
      starts, batch_size_of(options, sample_batch), BatchOrder::given,
      [&](std::span<const size_t> chosen) {
        const auto length = [&](size_t i) { return std::ssize(starts[i]); };
        const ptrdiff_t shortest = length(std::ranges::min(chosen, {}, length));
        std::vector<Sample> active;
        for (const size_t i : chosen)
          active.push_back(
              {active.size(), &starts[i],
               Random(options.seed, Purpose::generation, 0, 0, static_cast<uint32_t>(i % count)),
               Sequence(starts[i].begin(), starts[i].begin() + shortest), std::ssize(active)});
        return generated(model, vocabulary, std::move(active), options);
      });
  Found results(prompts.size());
  for (size_t i = 0; i < each.size(); ++i) results[i / count].push_back(std::move(each[i].front()));
  return results;
}

}  // namespace

Found continuations(const Model& model, const Vocabulary& vocabulary,
                    std::span<const Sequence> prompts, const GenerationOptions& options) {
  for (const Sequence& prompt : prompts)
    check(!prompt.empty(), "a language model needs a prompt of at least one token");
  if (options.beam == 0) return samples(model, vocabulary, prompts, options);
  return found_in_batches(prompts, 1, BatchOrder::given, [&](std::span<const size_t> chosen) {
    SearchOptions search = search_options(vocabulary, options);
    search.prompt = prompts[chosen[0]];
    const DecodingOptions decoding{.cache = options.cache, .context = options.context};
    return n_best_search(next_logits(model, decoding), 1, search);
  });
}

Found classes(const Model& model, std::span<const Sequence> sources, int64_t batch_size) {
  const InferenceScope here;
  return found_in_batches(
      sources, batch_size, BatchOrder::by_length, [&](std::span<const size_t> chosen) {
        const Padded batch = padded(sources, chosen);
        Inputs inputs;
        inputs.input = batch.ids;
        inputs.input_lengths = batch.lengths;
        const Tensor logits = model.logits(inputs);
        const auto width = static_cast<size_t>(logits.dim(1));
        Found results;
        for (size_t i = 0; i < chosen.size(); ++i) {
          const std::span<const real> row = logits.values().subspan(i * width, width);
          std::vector<Hypothesis>& found = results.emplace_back();
          for (int32_t label = 0; label < std::ssize(row); ++label)
            found.push_back({{label}, {}, log_probability(row, label)});
          std::stable_sort(found.begin(), found.end(),
                           [&](const Hypothesis& a, const Hypothesis& b) {
                             return row[static_cast<size_t>(a.tokens[0])] >
                                    row[static_cast<size_t>(b.tokens[0])];
                           });
        }
        return results;
      });
}

std::vector<int32_t> predicted_classes(const Model& model, const Inputs& batch) {
  const InferenceScope here;
  const Tensor logits = model.logits(batch);
  const int64_t width = logits.dim(-1);
  std::vector<int32_t> results;
  for (int64_t i = 0; i < logits.size() / width; ++i) {
    const real* row = logits.data() + i * width;
    results.push_back(static_cast<int32_t>(std::max_element(row, row + width) - row));
  }
  return results;
}

std::vector<Window> windows_of(int64_t targets, const Windows& windows) {
  const auto& [context, stride] = windows;
  check(context == 0 || (stride >= 1 && stride <= context),
        "windows of {} tokens cannot have a stride of {}", context, stride);
  const int64_t length = context > 0 ? std::min(context, targets) : targets;
  std::vector<Window> list;
  for (int64_t scored = 0, last = length; scored < targets;
       scored = last, last = std::min(last + stride, targets))
    list.push_back({last - length, last, scored});
  return list;
}

Found scored_tokens(const Model& model, std::span<const Sequence> sequences,
                    const Windows& windows) {
  const InferenceScope here;
  std::vector<std::pair<size_t, Window>> parts;  // of a sequence
  std::vector<int64_t> lengths;
  for (size_t i = 0; i < sequences.size(); ++i)
    for (const Window& window : windows_of(std::ssize(sequences[i]) - 1, windows)) {
      parts.emplace_back(i, window);
      lengths.push_back(window.last - window.first);
    }
  const Found found = found_in_batches(
      lengths, source_batch, BatchOrder::by_length, [&](std::span<const size_t> chosen) {
        std::vector<Sequence> inputs;
        std::vector<size_t> rows;
        for (const size_t part : chosen) {
          const auto& [sequence, window] = parts[part];
          const auto begin = sequences[sequence].begin();
          rows.push_back(rows.size());
          inputs.emplace_back(begin + window.first, begin + window.last);
        }
        const Padded batch = padded(inputs, rows);
        const Tensor logits = model.logits({{}, {}, batch.ids, batch.lengths});
        const auto width = static_cast<size_t>(logits.dim(2)),
                   time = static_cast<size_t>(logits.dim(1));
        Found results;
        for (const size_t row : rows) {
          const auto& [sequence, window] = parts[chosen[row]];
          std::vector<Hypothesis> part(2);
          const auto add = [](Hypothesis& to, std::span<const real> row_logits, int32_t token) {
            to.tokens.push_back(token);
            to.token_log_probabilities.push_back(log_probability(row_logits, token));
          };
          for (int64_t t = window.scored; t < window.last; ++t) {
            const int32_t target = sequences[sequence][static_cast<size_t>(t + 1)];
            const size_t at = row * time + static_cast<size_t>(t - window.first);
            const std::span<const real> scored_row = logits.values().subspan(at * width, width);
            add(part[0], scored_row, target);
            add(part[1], scored_row,
                static_cast<int32_t>(std::ranges::max_element(scored_row) - scored_row.begin()));
          }
          results.push_back(std::move(part));
        }
        return results;
      });
  Found results(sequences.size(), std::vector<Hypothesis>(2));
  for (size_t i = 0; i < 2 * parts.size(); ++i) {
    Hypothesis& whole = results[parts[i / 2].first][i % 2];
    const Hypothesis& part = found[i / 2][i % 2];
    whole.tokens.insert(whole.tokens.end(), part.tokens.begin(), part.tokens.end());
    for (const double each : part.token_log_probabilities) {
      whole.token_log_probabilities.push_back(each);
      whole.log_probability += each;
    }
  }
  return results;
}

}  // namespace heed
