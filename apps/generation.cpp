#include "apps/generation.h"

#include <algorithm>
#include <functional>
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

// The rows of x (B, …) that `rows` names, one after the other.
Tensor rows_of(const Tensor& x, std::span<const int64_t> rows) {
  const int64_t width = x.size() / std::max<int64_t>(1, x.dim(0));
  Tensor chosen = Tensor::empty(x.shape().with(0, static_cast<int64_t>(rows.size())));
  for (size_t i = 0; i < rows.size(); ++i)
    std::copy_n(x.data() + rows[i] * width, width,
                chosen.mutable_data() + static_cast<int64_t>(i) * width);
  return chosen;
}

Ids rows_of(const Ids& x, std::span<const int64_t> rows) {
  Ids chosen = Ids::empty({static_cast<int64_t>(rows.size())});
  for (size_t i = 0; i < rows.size(); ++i) chosen.data()[i] = x[rows[i]];
  return chosen;
}

// The states at the last place: (B, T, D) → (B, D).
Tensor last_of(const Tensor& states) {
  const int64_t time = states.dim(1);
  return slice(states, 1, time - 1, time).reshape({states.dim(0), states.dim(2)});
}

}  // namespace

std::vector<Hypothesis> answers(const Seq2Seq& model, const Vocabulary& target, const Inputs& batch,
                                const AnswerOptions& options) {
  ScopeGuard here;
  here->gradients = here->training = false;
  const Tensor memory = model.encode(batch);
  const NextLogits next = [&](const Ids& tokens, std::span<const int64_t> examples) {
    const Tensor states =
        model.decode(tokens, rows_of(memory, examples), rows_of(batch.source_lengths, examples));
    return model.head()(last_of(states));
  };
  SearchOptions search;
  search.begin = target.begin();
  search.end = target.end();
  search.beam = options.beam;
  search.length_penalty = options.length_penalty;
  search.max_length = options.max_length > 0 ? options.max_length : 2 * memory.dim(1) + 10;
  return beam_search(next, memory.dim(0), search);
}

std::vector<Hypothesis> answers(const Seq2Seq& model, const Vocabulary& target,
                                std::span<const Sequence> sources, const AnswerOptions& options) {
  std::vector<Hypothesis> results(sources.size());
  for_each_batch(sources, options.batch_size, [&](std::span<const size_t> chosen) {
    const Padded batch = padded(sources, chosen);
    Inputs inputs;
    inputs.source = batch.ids;
    inputs.source_lengths = batch.lengths;
    std::vector<Hypothesis> found = answers(model, target, inputs, options);
    for (size_t i = 0; i < chosen.size(); ++i) results[chosen[i]] = std::move(found[i]);
  });
  return results;
}

std::vector<Sequence> continuations(const LanguageModel& model, const Vocabulary& vocabulary,
                                    const Sequence& prompt, const ContinueOptions& options) {
  check(!prompt.empty(), "a language model needs at least one token to go on from");
  ScopeGuard here;
  here->gradients = here->training = false;
  const auto count = static_cast<size_t>(options.count);
  std::vector<Sequence> sequences(count, prompt);
  std::vector<Random> streams;
  for (size_t i = 0; i < count; ++i)
    streams.emplace_back(options.seed, Purpose::generation, 0, 0, static_cast<uint32_t>(i));
  std::vector<size_t> open(count);  // those that have not ended
  std::iota(open.begin(), open.end(), size_t{0});
  for (int64_t length = 0; length < options.max_length && !open.empty(); ++length) {
    const int64_t total = static_cast<int64_t>(prompt.size()) + length;
    const int64_t read = options.window > 0 ? std::min(options.window, total) : total;
    Ids tokens = Ids::empty({static_cast<int64_t>(open.size()), read});
    for (size_t row = 0; row < open.size(); ++row)
      std::copy(sequences[open[row]].end() - read, sequences[open[row]].end(),
                tokens.data() + static_cast<int64_t>(row) * read);
    const Tensor logits = model.head()(last_of(model.hidden(tokens)));
    const auto width = static_cast<size_t>(logits.dim(1));
    std::vector<size_t> still_open;
    for (size_t row = 0; row < open.size(); ++row) {
      const int32_t token = sample(logits.values().subspan(row * width, width), options.sampling,
                                   streams[open[row]].uniform());
      if (token == vocabulary.end()) continue;
      sequences[open[row]].push_back(token);
      still_open.push_back(open[row]);
    }
    open = std::move(still_open);
  }
  for (Sequence& sequence : sequences)
    sequence.erase(sequence.begin(), sequence.begin() + static_cast<ptrdiff_t>(prompt.size()));
  return sequences;
}

std::vector<int32_t> classes(const Classifier& model, const Inputs& batch) {
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

std::vector<int32_t> classes(const Classifier& model, std::span<const Sequence> sources,
                             int64_t batch_size) {
  std::vector<int32_t> results(sources.size());
  for_each_batch(sources, batch_size, [&](std::span<const size_t> chosen) {
    const Padded batch = padded(sources, chosen);
    Inputs inputs;
    inputs.input = batch.ids;
    inputs.input_lengths = batch.lengths;
    const std::vector<int32_t> found = classes(model, inputs);
    for (size_t i = 0; i < chosen.size(); ++i) results[chosen[i]] = found[i];
  });
  return results;
}

}  // namespace heed
