// One object per thread that outlives its thread. When a thread ends, its object is kept, and the
// next thread that asks takes it over. So nothing is lost when threads come and go, and static
// objects may still use theirs while the program exits.
#pragma once

#include <mutex>
#include <pthread.h>

#include "core/real.h"

namespace heed::inline HEED_REAL {

// Returns the calling thread's T. Not part of Scope, whose values a ScopeGuard copies and restores.
template <class T>
T& per_thread() {
  struct Kept {
    T value;
    Kept* next = nullptr;  // in the list of abandoned objects
  };
  static std::mutex mutex;
  static Kept* abandoned = nullptr;
  static constinit thread_local Kept* mine = nullptr;
  // The destructor of a key runs when its thread ends, after those of thread_local objects, which
  // may still use the object of the thread. Destructors of further keys get an object again, and
  // this one then runs again.
  struct AtThreadExit {
    pthread_key_t key;
    AtThreadExit() {
      pthread_key_create(&key, [](void* object) {
        Kept* const kept = static_cast<Kept*>(object);
        mine = nullptr;
        const std::lock_guard lock(mutex);
        kept->next = abandoned;
        abandoned = kept;
      });
    }
  };
  if (!mine) [[unlikely]] {
    static const AtThreadExit at_thread_exit;
    const std::lock_guard lock(mutex);
    mine = abandoned ? abandoned : new Kept;
    if (abandoned) abandoned = abandoned->next;
    pthread_setspecific(at_thread_exit.key, mine);
  }
  return mine->value;
}

}  // namespace heed::inline HEED_REAL
