#include "lab/experiments/run_state.h"

#include "apps/support/files.h"
#include "apps/training/checkpoint.h"
#include "apps/training/run_folder.h"

namespace heed {

RunState state_of(const std::string& path) {
  if (is_locked(path)) return RunState::running;  // also before it has a config
  if (!is_run(path)) return RunState::none;
  const RunFolder run = RunFolder::open(path);
  if (exists(run.error())) return RunState::failed;
  if (exists(run.result())) return RunState::done;
  return saved_step(path) > 0 ? RunState::resumable : RunState::none;
}

int64_t saved_step(const std::string& path) {
  if (!is_run(path)) return 0;
  return Checkpoints(RunFolder::open(path).checkpoints(), 1).newest_step();
}

std::string error_of(const std::string& path) {
  const std::string text = read_file(in_folder(path, run_files::error), "error", 1 << 16);
  return text.substr(0, text.find('\n'));
}

}  // namespace heed
