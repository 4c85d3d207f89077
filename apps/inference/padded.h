// Sequences as batches.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/ids.h"

namespace heed {

using Sequence = std::vector<int32_t>;

struct Padded {
  Ids ids, lengths;  // (B, T), (B)
};

// Returns the chosen sequences, padded with 0. Throws Error for an empty one.
Padded padded(std::span<const Sequence> sequences, std::span<const size_t> chosen);

// Calls f(indices) for each batch of this rank (core/ranks.h): the ranks share the batches. Batches
// hold sequences of similar length, to have little padding.
void for_each_batch(std::span<const Sequence> sequences, int64_t batch_size,
                    const std::function<void(std::span<const size_t>)>& f);

}  // namespace heed
