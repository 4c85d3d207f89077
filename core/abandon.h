// Ends a long computation early, between the chunks of its parallel loops.
#pragma once

#include <exception>

#include "core/real.h"

namespace heed::inline HEED_REAL {

// A computation was ended early: what it was to compute is undefined.
struct Abandoned : std::exception {
  const char* what() const noexcept override { return "abandoned"; }
};

using AbandonTest = bool (*)();
// Whether to end what this thread computes. While it is not null, the parallel loops that the
// thread starts call it before each chunk, on several threads, until it returns true, and then
// throw Abandoned; loops inside these run to their end, and a chunk that takes long asks
// is_abandoned(). Once it has returned true it must go on doing so. Set it with a ValueGuard, and
// to null around what must be whole, such as an update of weights.
inline constinit thread_local AbandonTest abandons = nullptr;

// The same for the chunk of a parallel loop that this thread runs.
inline constinit thread_local AbandonTest chunk_abandons = nullptr;

// Returns whether to end. A chunk may then return, whatever it has computed.
inline bool is_abandoned() {
  const AbandonTest test = chunk_abandons ? chunk_abandons : abandons;
  return test && test();
}
inline void check_not_abandoned() {
  if (is_abandoned()) throw Abandoned();
}

}  // namespace heed::inline HEED_REAL
