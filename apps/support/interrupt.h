// Interruption by signals: the first SIGINT, SIGTERM, SIGUSR1 or SIGHUP is recorded, a second one
// of the first three ends the process. SIGUSR1 is what Slurm's srun passes on; on SIGTERM it kills.
#pragma once

namespace heed {

// Records signals while it exists. SIGHUP stays ignored if it was (nohup). Of several at a time, as
// of runs in threads, the first one begins and the last one ends it. In a process that handles a
// signal itself, a second one of this kind does not end the process.
class InterruptGuard {
 public:
  InterruptGuard();
  // Restores what handled the signals before. If a SIGHUP was recorded, later ones are ignored: the
  // program is ending, and shall end with its own exit code.
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
};

// Returns whether a signal was recorded.
bool interrupted();
// Returns whether the last one was SIGTERM.
bool terminated();

}  // namespace heed
