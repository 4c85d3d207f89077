#include "apps/inference/padded.h"

#include <algorithm>
#include <numeric>

#include "apps/support/together.h"
#include "core/check.h"

namespace heed {

Padded padded(std::span<const Sequence> sequences, std::span<const size_t> chosen) {
  size_t longest = 0;
  for (size_t i : chosen) longest = std::max(longest, sequences[i].size());
  const auto count = static_cast<int64_t>(chosen.size()), width = static_cast<int64_t>(longest);
  Padded batch{Ids::full({count, width}, 0), Ids::empty({count})};
  for (int64_t row = 0; row < count; ++row) {
    const Sequence& sequence = sequences[chosen[static_cast<size_t>(row)]];
    check(!sequence.empty(), "a model cannot read an empty sequence");
    std::copy(sequence.begin(), sequence.end(), batch.ids.mutable_data() + row * width);
    batch.lengths.mutable_data()[row] = static_cast<int32_t>(sequence.size());
  }
  return batch;
}

namespace {

// A hypothesis without its lists.
struct HypothesisHead {
  size_t source;
  size_t tokens, token_log_probabilities;
  double log_probability, score;
};

// Gives all ranks what each has found. Those of one source are on one rank.
void share(Found& results) {
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

Found found_in_batches(std::span<const Sequence> sequences, int64_t batch_size, BatchOrder order,
                       const std::function<Found(std::span<const size_t>)>& f) {
  std::vector<int64_t> lengths;
  for (const Sequence& sequence : sequences) lengths.push_back(std::ssize(sequence));
  return found_in_batches(lengths, batch_size, order, f);
}

Found found_in_batches(std::span<const int64_t> lengths, int64_t batch_size, BatchOrder order,
                       const std::function<Found(std::span<const size_t>)>& f) {
  std::vector<size_t> indices(lengths.size());
  std::iota(indices.begin(), indices.end(), size_t{0});
  if (order == BatchOrder::by_length)
    std::ranges::stable_sort(indices, {}, [&](size_t i) { return lengths[i]; });
  const auto step = static_cast<size_t>(std::max<int64_t>(1, batch_size));
  const RankShare own(static_cast<int64_t>((indices.size() + step - 1) / step));
  Found results(lengths.size());
  for (int64_t batch = own.first; batch < own.last; ++batch) {
    const size_t first = static_cast<size_t>(batch) * step;
    const auto chosen = std::span(indices).subspan(first, std::min(step, indices.size() - first));
    Found found = f(chosen);
    for (size_t i = 0; i < chosen.size(); ++i) results[chosen[i]] = std::move(found[i]);
  }
  share(results);
  return results;
}

}  // namespace heed
