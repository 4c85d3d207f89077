// The state of a run, read from its folder.
#pragma once

#include <cstdint>
#include <string>

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

// The first of running, failed, done and resumable that holds. There may be nothing at the path.
RunState state_of(const std::string& path);

// Returns the step of the newest checkpoint, 0 if there is none.
int64_t saved_step(const std::string& path);

// Returns the first line of error.txt. Throws InputError if it cannot be read.
std::string error_of(const std::string& path);

}  // namespace heed
