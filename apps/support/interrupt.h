// Interruption by signals: the first SIGINT, SIGTERM or SIGHUP is recorded, a second SIGINT or
// SIGTERM ends the process.
#pragma once

namespace heed {

// Records signals while it exists. SIGHUP stays ignored if it was (nohup).
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();  // restores the default
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
};

// Returns whether a signal was recorded.
bool interrupted();

}  // namespace heed
