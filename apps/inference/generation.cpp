#include "apps/inference/generation.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>

#include "core/ops.h"
#include "core/random.h"
#include "core/scope.h"

namespace heed {
namespace {

struct Padded {
  Ids ids, lengths;  // (B, T), (B)
};

Padded padded(std::span<const Sequence> sequences, std::span<const size_t> chosen) {
  size_t longest = 0;
  for (size_t i : chosen) longest = std::max(longest, sequences[i].size());
  const auto count = static_cast<int64_t>(chosen.size()), width = static_cast<int64_t>(longest);
  Padded batch{Ids::full({count, width}, 0), Ids::empty({count})};
  for (int64_t row = 0; row < count; ++row) {
    const Sequence& sequence = sequences[chosen[static_cast<size_t>(row)]];
    check(!sequence.empty(), "there is nothing to read in an empty sequence");
    std::copy(sequence.begin(), sequence.end(), batch.ids.data() + row * width);
    batch.lengths.data()[row] = static_cast<int32_t>(sequence.size());
  }
  return batch;
}

// Calls f(batch) with places of sequences of similar length, so that little is padding.
void for_each_batch(std::span<const Sequence> sequences, int64_t batch_size,
                    const std::function<void(std::span<const size_t>)>& f) {
  std::vector<size_t> order(sequences.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return sequences[a].size() < sequences[b].size(); });
  const auto step = static_cast<size_t>(std::max<int64_t>(1, batch_size));
  for (size_t first = 0; first < order.size(); first += step)
    f(std::span(order).subspan(first, std::min(step, order.size() - first)));
}

}  // namespace

std::vector<Hypothesis> outputs(const Seq2Seq& model, const Vocabulary& target, const Inputs& batch,
                                const OutputOptions& options) {
  const Shape& shape = batch.features ? batch.features.shape() : batch.source.shape();
  const int64_t sources = shape[0], longest = shape[1];
  SearchOptions search;
  search.begin = target.begin();
  search.end = target.end();
  search.beam = options.beam;
  search.length_penalty = options.length_penalty;
  search.max_length = options.max_length > 0 ? options.max_length : 2 * longest + 10;
  return beam_search(next_logits(model, batch, {.cache = options.cache}), sources, search);
}

std::vector<Hypothesis> outputs(const Seq2Seq& model, const Vocabulary& target,
                                std::span<const Sequence> sources, const OutputOptions& options) {
  std::vector<Hypothesis> results(sources.size());
  for_each_batch(sources, options.batch_size, [&](std::span<const size_t> chosen) {
    const Padded batch = padded(sources, chosen);
    Inputs inputs;
    inputs.source = batch.ids;
    inputs.source_lengths = batch.lengths;
    std::vector<Hypothesis> found = outputs(model, target, inputs, options);
    for (size_t i = 0; i < chosen.size(); ++i) results[chosen[i]] = std::move(found[i]);
  });
  return results;
}

namespace {

// A continuation while it grows. All of a batch have as many tokens, so a longer prompt is still
// being read while what follows a shorter one is written.
struct Growing {
  size_t place;  // among all continuations
  const Sequence* prompt;
  Random stream;
  Sequence tokens;  // of the prompt, and behind it those that were drawn
  int64_t parent;   // its row in the batch before

  // The token at the place behind the others, of the prompt or drawn.
  int32_t next(std::span<const real> logits, const SamplingOptions& sampling) {
    if (tokens.size() < prompt->size()) return (*prompt)[tokens.size()];
    return sample(logits, sampling, stream.uniform());
  }
  Sequence written() const {
    if (tokens.size() <= prompt->size()) return {};
    return {tokens.begin() + static_cast<ptrdiff_t>(prompt->size()), tokens.end()};
  }
};

Tensor logits_of(const NextLogits& next, const std::vector<Growing>& open) {
  const auto rows = static_cast<int64_t>(open.size());
  Ids tokens = Ids::empty({rows, static_cast<int64_t>(open[0].tokens.size())});
  std::vector<int64_t> parents;
  int32_t* to = tokens.data();
  for (const Growing& text : open) {
    to = std::copy(text.tokens.begin(), text.tokens.end(), to);
    parents.push_back(text.parent);
  }
  return next(tokens, parents);
}

// Goes on with one batch until all of it has ended.
void write(const LanguageModel& model, const Vocabulary& vocabulary, std::vector<Growing> open,
           const ContinuationOptions& options, std::vector<Sequence>& results) {
  const NextLogits next = next_logits(model, {.cache = options.cache, .window = options.window});
  while (!open.empty()) {
    const Tensor logits = logits_of(next, open);
    const auto width = static_cast<size_t>(logits.dim(1));
    std::vector<Growing> still_open;
    for (size_t row = 0; row < open.size(); ++row) {
      Growing& text = open[row];
      const bool reads = text.tokens.size() < text.prompt->size();
      const int32_t token =
          text.next(logits.values().subspan(row * width, width), options.sampling);
      const bool ends = !reads && token == vocabulary.end();
      if (!ends) text.tokens.push_back(token);
      if (ends || std::ssize(text.tokens) == std::ssize(*text.prompt) + options.max_length) {
        results[text.place] = text.written();
      } else {
        text.parent = static_cast<int64_t>(row);
        still_open.push_back(std::move(text));
      }
    }
    open = std::move(still_open);
  }
}

}  // namespace

std::vector<Sequence> continuations(const LanguageModel& model, const Vocabulary& vocabulary,
                                    std::span<const Sequence> prompts,
                                    const ContinuationOptions& options) {
  for (const Sequence& prompt : prompts)
    check(!prompt.empty(), "a language model needs at least one token to go on from");
  const auto count = static_cast<size_t>(options.count);
  std::vector<Sequence> results(prompts.size() * count);
  if (options.max_length == 0) return results;
  const auto step = static_cast<size_t>(std::max<int64_t>(1, options.batch_size));
  for (size_t first = 0; first < results.size(); first += step) {
    const size_t last = std::min(results.size(), first + step);
    auto shortest = std::numeric_limits<ptrdiff_t>::max();
    for (size_t i = first; i < last; ++i)
      shortest = std::min(shortest, std::ssize(prompts[i / count]));
    std::vector<Growing> open;
    for (size_t i = first; i < last; ++i) {
      const Sequence& prompt = prompts[i / count];
      open.push_back(
          {i, &prompt,
           Random(options.seed, Purpose::generation, 0, 0, static_cast<uint32_t>(i % count)),
           Sequence(prompt.begin(), prompt.begin() + shortest), std::ssize(open)});
    }
    write(model, vocabulary, std::move(open), options, results);
  }
  return results;
}

std::vector<int32_t> predicted_classes(const Classifier& model, const Inputs& batch) {
  ScopeGuard here;
  here->gradients = here->training = false;
  const Tensor logits = model.logits(batch);
  const int64_t width = logits.dim(1);
  std::vector<int32_t> results;
  for (int64_t i = 0; i < logits.dim(0); ++i) {
    const real* row = logits.data() + i * width;
    results.push_back(static_cast<int32_t>(std::max_element(row, row + width) - row));
  }
  return results;
}

std::vector<int32_t> predicted_classes(const Classifier& model, std::span<const Sequence> sources,
                                       int64_t batch_size) {
  std::vector<int32_t> results(sources.size());
  for_each_batch(sources, batch_size, [&](std::span<const size_t> chosen) {
    const Padded batch = padded(sources, chosen);
    Inputs inputs;
    inputs.input = batch.ids;
    inputs.input_lengths = batch.lengths;
    const std::vector<int32_t> found = predicted_classes(model, inputs);
    for (size_t i = 0; i < chosen.size(); ++i) results[chosen[i]] = found[i];
  });
  return results;
}

}  // namespace heed
