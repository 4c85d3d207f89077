// What the processes that train or evaluate one model together (core/ranks.h) tell one another. A
// process that is alone, as nearly all are, gets back what it gives: whoever calls these functions
// needs no other path for it. All ranks must call each of them, in the same order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "core/ranks.h"

namespace heed {

// Returns the value of each rank.
template <class T>
std::vector<T> from_all_ranks(const T& own) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<T> all(static_cast<size_t>(rank_count()), own);
  if (Ranks::current) Ranks::current->all_gather(std::as_writable_bytes(std::span(all)));
  return all;
}

// Returns the elements of all ranks, one rank after the other.
template <class T>
std::vector<T> concatenated(std::vector<T> own) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (!Ranks::current) return own;
  const std::vector<size_t> sizes = from_all_ranks(own.size());
  const size_t most = *std::max_element(sizes.begin(), sizes.end());
  std::vector<T> parts(most * sizes.size()), all;
  std::copy(own.begin(), own.end(), parts.data() + most * static_cast<size_t>(rank()));
  Ranks::current->all_gather(std::as_writable_bytes(std::span(parts)));
  for (size_t r = 0; r < sizes.size(); ++r)
    all.insert(all.end(), parts.data() + most * r, parts.data() + most * r + sizes[r]);
  return all;
}

// The same for texts.
std::vector<std::string> concatenated(const std::vector<std::string>& own);

// The part of [0, count) that this rank computes, where each rank takes consecutive items.
struct RankShare {
  int64_t first, last;  // [first, last)
  explicit RankShare(int64_t count)
      : first(count * rank() / rank_count()), last(count * (rank() + 1) / rank_count()) {}
};

// Returns the text of rank 0.
std::string from_first_rank(std::string text);
// Overwrites these values with those of rank 0.
void copy_from_first_rank(std::span<real> values);

// Returns whether this holds for a rank.
bool on_any_rank(bool holds);

// In its scope this process is alone: the others do not compute the same.
class Alone {
  const ValueGuard<Ranks*> guard_{Ranks::current, nullptr};
};

}  // namespace heed
