// A task as a dataset: listed if it is small, drawn if it is large.
//
// A task of at most 2^20 sources is listed: each split has all examples whose hash falls into it,
// or as many of them as asked for. Of larger tasks, training examples are not stored: example i is
// drawn when it is needed, from a random stream named by (seed, split, i), until the hash of its
// source falls into the split. Validation and test examples are distinct; their streams are stored.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/random.h"
#include "data/dataset.h"
#include "data/framing.h"
#include "data/split.h"
#include "data/tasks/sequence_task.h"

namespace heed {

// The examples of one split.
struct Selection {
  uint64_t seed;
  SplitFractions fractions;
  std::optional<Split> split;  // none: any examples

  bool contains(std::span<const int32_t> source) const {
    return !split || fractions.split_of(stable_hash(source)) == *split;
  }
  // The random numbers from which example i is drawn.
  Random random(int64_t i) const;
};

inline constexpr int64_t unlimited = int64_t{1} << 40;  // the size of a training split, if drawn
inline constexpr int64_t held_out_size = 1000;          // the size of others, if drawn

// Returns whether the examples of a task are listed.
bool is_listed(const SequenceTask& task);

// Returns the examples of a split: `size` of them, or for 0 all of a listed task, else one of the
// sizes above; fewer if there are fewer listed or distinct ones. A drawn training split draws until
// an example is in it, so the other fractions must leave it something.
Dataset generated(const SequenceTask& task, Layout layout, Selection selection, int64_t size = 0);

}  // namespace heed
