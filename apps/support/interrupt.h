// Ctrl-C, asked for politely: the first one (or SIGTERM) is remembered, the second one ends the
// process as usual.
#pragma once

namespace heed {

class InterruptGuard {
 public:
  InterruptGuard();   // from here on
  ~InterruptGuard();  // as before
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
};

bool interrupted();

}  // namespace heed
