#include "apps/training/run_folder.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/support/file_lock.h"
#include "apps/training/checkpoint.h"
#include "apps/training/run_record.h"
#include "core/check.h"

namespace heed {

// Returns a path without trailing slashes.
static std::string without_slash(const std::string& path) {
  return path.size() > 1 && path.back() == '/' ? path.substr(0, path.size() - 1) : path;
}

RunFolder RunFolder::create(const std::string& path) {
  check_input(!exists(path) || is_folder(path),
              "{}: expected a folder, found a file; choose another with --run", path);
  const RunFolder run(without_slash(path));
  make_folders(run.path());
  run.check_empty();
  return run;
}

RunFolder RunFolder::create_in(const std::string& parent, const std::string& config_path) {
  const std::string stem = stem_of(absolute_path(config_path, "."));
  const std::string path = in_folder(parent, stem);
  std::string free = in_folder(parent, first_name(stem));
  for (int i = 2; !make_new_folder(free); ++i) free = fmt::format("{}-{}", path, i);
  return RunFolder(free);
}

RunFolder RunFolder::open(const std::string& path) {
  const RunFolder run(without_slash(path));
  if (!exists(path)) throw InputError(no_such_run(path));
  for (const std::string& file : run.files()) check_own(file, FileKind::plain);
  check_own(run.lock(), FileKind::plain);
  check_own(run.checkpoints(), FileKind::folder);
  for (const std::string& folder : {run.data(), run.snapshots()}) {
    check_own(folder, FileKind::folder);
    for (const std::string& file : names_in_folder(folder))
      if (!file.starts_with(Aside::prefix)) check_own(in_folder(folder, file), FileKind::plain);
  }
  for (const std::string& name : names_in_folder(run.checkpoints())) {
    if (step_of_name(name) < 0) continue;
    const std::string step = in_folder(run.checkpoints(), name);
    check_own(step, FileKind::folder);
    for (const std::string& file : names_in_folder(step))
      check_own(in_folder(step, file), FileKind::plain);
  }
  check_input(exists(run.config()), "{}: not a run: it has no config.toml", path);
  (void)sessions_of(run);  // checks the format
  return run;
}

void RunFolder::check_empty() const {
  const bool is_run = exists(config());
  for (const std::string& name : names_in_folder(path_))
    check_input(
        name.starts_with('.') || (!is_run && name == name_of(record())),
        "{}: not empty (it has {}); resume the run with --resume --run {}, or choose another "
        "folder with --run",
        path_, name, path_);
}

void RunFolder::discard() const {
  for (const std::string& file : files()) ::unlink(file.c_str());
  ::unlink(lock().c_str());
  remove_all(data());
  ::rmdir(path_.c_str());
}

void RunFolder::clean_up() const {
  const Descriptor held(open_lock());
  if (try_lock(held)) remove_leftovers(files());
}

int RunFolder::open_lock() const {
  Descriptor file(
      ::open(lock().c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666));
  const int code = errno;
  check_own(lock(), FileKind::plain);
  check(static_cast<bool>(file), "{}: cannot write: {}; allow writing in the folder of the run",
        lock(), std::strerror(code));
  return file.release();
}

bool is_locked(const std::string& path) {
  const Descriptor file(::open(in_folder(path, run_files::lock).c_str(),
                               O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  return file && is_locked_elsewhere(file);
}

}  // namespace heed
