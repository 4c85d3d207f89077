// Ctrl-C as a request: the first SIGINT or SIGTERM is noted, the second ends the process.
#pragma once

namespace heed {

// While it exists, signals are noted.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();  // restores the default
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
};

// Returns whether a signal has been noted.
bool interrupted();

}  // namespace heed
