// Observes what happens in a training step besides operations.
#pragma once

#include <cstdint>

#include "core/observer.h"

namespace heed::inline HEED_REAL {

// An observer that is also told of stages and of memory. The functions must not use the pool.
class StageObserver : public Observer {
 public:
  // A stage that is not an operation is done, for example the optimizer's update.
  virtual void stage_finished(const char* /*stage*/) noexcept {}
  // A loop that is worth several threads is done, in which this thread waited so long: for the
  // others to begin, and for the last one to end; 0 where it had the loop to itself.
  virtual void loop_finished(int64_t /*waited_nanoseconds*/) noexcept {}
  // The pool allocated, or took back, a block of this size: that of its size class. A block that
  // another thread freed is taken back with the next request.
  virtual void allocated(const void* /*block*/, int64_t /*bytes*/) noexcept {}
  virtual void freed(const void* /*block*/, int64_t /*bytes*/) noexcept {}

  // Calls f with each observer of this thread that is one of these, the innermost first. It asks by
  // a cast, so that an observer of operations, which the minimal build has, knows no stages.
  template <class F>
  static void notify(const F& f) {
    ObserverScope::notify([&](Observer& observer) {
      if (auto* const of_stages = dynamic_cast<StageObserver*>(&observer)) f(*of_stages);
    });
  }
};

inline void stage_finished(const char* name) {
  StageObserver::notify([&](StageObserver& o) { o.stage_finished(name); });
}

}  // namespace heed::inline HEED_REAL
