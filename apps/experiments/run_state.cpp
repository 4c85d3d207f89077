#include "apps/experiments/run_state.h"

#include "apps/support/files.h"
#include "apps/training/checkpoint.h"

namespace heed {

RunState state_of(const RunFolder& run) {
  if (is_locked(run.path())) return RunState::running;
  if (exists(run.error())) return RunState::failed;
  if (exists(run.result())) return RunState::done;
  return saved_step(run) > 0 ? RunState::resumable : RunState::none;
}

RunState state_at(const std::string& path) {
  if (is_locked(path)) return RunState::running;  // also before it has a config
  return exists(in_folder(path, "config.toml")) ? state_of(RunFolder::open(path)) : RunState::none;
}

int64_t saved_step(const RunFolder& run) {
  const std::vector<int64_t> steps = Checkpoints(run.checkpoints(), 1).steps();
  return steps.empty() ? 0 : steps.back();
}

int64_t saved_step_at(const std::string& path) {
  return exists(in_folder(path, "config.toml")) ? saved_step(RunFolder::open(path)) : 0;
}

}  // namespace heed
