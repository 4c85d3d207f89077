// One object for each thread, which outlives its thread: what a thread leaves behind is taken over
// by the next that asks. So nothing is lost when threads come and go, and static objects may still
// use it after everything else has ended.
#pragma once

#include <mutex>

#include "core/real.h"

namespace heed::inline HEED_REAL {

// The calling thread's T.
template <class T>
T& per_thread() {
  struct Kept {
    T value;
    Kept* next = nullptr;  // in the list of those left behind
  };
  static std::mutex mutex;
  static Kept* left_behind = nullptr;
  struct Leave {
    Kept* kept = nullptr;
    ~Leave() {
      const std::lock_guard lock(mutex);
      kept->next = left_behind;
      left_behind = kept;
    }
  };
  static thread_local Kept* const mine = [] {
    static thread_local Leave at_the_end;
    const std::lock_guard lock(mutex);
    at_the_end.kept = left_behind ? left_behind : new Kept;
    if (left_behind) left_behind = left_behind->next;
    return at_the_end.kept;
  }();
  return mine->value;
}

}  // namespace heed::inline HEED_REAL
