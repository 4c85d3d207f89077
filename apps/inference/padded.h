// Sequences as batches.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/ids.h"
#include "nn/search.h"

namespace heed {

using Sequence = std::vector<int32_t>;

struct Padded {
  Ids ids, lengths;  // (B, T), (B)
};

// Returns the chosen sequences, padded with 0. Throws Error for an empty one.
Padded padded(std::span<const Sequence> sequences, std::span<const size_t> chosen);

// What a model finds for each of several sequences, best first.
using Found = std::vector<std::vector<Hypothesis>>;

enum class BatchOrder {
  by_length,  // a batch has sequences of similar length, and so little padding
  given,
};
// Returns for all sequences what f(indices) finds for those of a batch. The ranks (core/ranks.h)
// share the batches, and all get what each has found. `lengths`: of the sequences.
Found found_in_batches(std::span<const int64_t> lengths, int64_t batch_size, BatchOrder order,
                       const std::function<Found(std::span<const size_t>)>& f);
Found found_in_batches(std::span<const Sequence> sequences, int64_t batch_size, BatchOrder order,
                       const std::function<Found(std::span<const size_t>)>& f);

}  // namespace heed
