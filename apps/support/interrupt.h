// Signals as requests: the first SIGINT, SIGTERM or SIGHUP is noted, a second SIGINT or SIGTERM
// ends the process.
#pragma once

namespace heed {

// While it exists, signals are noted. SIGHUP stays ignored if it was (nohup).
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();  // restores the default
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
};

// Returns whether a signal has been noted.
bool interrupted();

// From now on, writing to a pipe that nobody reads fails and does not end the process.
void outlive_readers();

}  // namespace heed
