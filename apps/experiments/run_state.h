// What has become of a run, as its folder says. It is derived each time and stored nowhere.
#pragma once

#include <string>

#include "apps/training/run.h"
#include "core/named.h"

namespace heed {

enum class RunState {
  none,       // no run, or one without a checkpoint
  running,    // a process holds its lock
  failed,     // error.txt
  done,       // result.json
  resumable,  // a checkpoint
};
inline constexpr Named<RunState> run_state_names[] = {{"none", RunState::none},
                                                      {"running", RunState::running},
                                                      {"failed", RunState::failed},
                                                      {"done", RunState::done},
                                                      {"resumable", RunState::resumable}};

// The first of running, failed, done and resumable that holds.
RunState state_of(const RunFolder& run);
// The same for a path, which need not exist.
RunState state_at(const std::string& path);

// Returns the step of the newest checkpoint, 0 if there is none.
int64_t saved_step(const RunFolder& run);
// The same for a path, which need not exist.
int64_t saved_step_at(const std::string& path);

}  // namespace heed
