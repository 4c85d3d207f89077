#include "apps/training/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "apps/support/files.h"
#include "core/check.h"

namespace heed {
namespace {

// Returns the leading rows that are complete and of steps up to `last_step`.
std::string_view rows_up_to(std::string_view text, int64_t last_step) {
  size_t end = 0;
  for (size_t newline; (newline = text.find('\n', end)) != text.npos; end = newline + 1) {
    try {
      const Json row = Json::parse(text.substr(end, newline - end), "");
      if (row.at("step").integer() > last_step) break;
    } catch (const InputError&) {
      break;
    }
  }
  return text.substr(0, end);
}

}  // namespace

RunFolder RunFolder::create(const std::string& path) {
  check_input(!exists(path) || is_folder(path),
              "{}: expected a folder, found a file; choose another with --run", path);
  make_folders(path);
  for (const std::string& name : names_in_folder(path))
    check_input(
        name.starts_with('.'),
        "{}: not empty (it has {}); resume the run with --resume --run {}, or choose another "
        "folder with --run",
        path, name, path);
  return RunFolder(path);
}

RunFolder RunFolder::open(const std::string& path) {
  const RunFolder run(path.size() > 1 && path.back() == '/' ? path.substr(0, path.size() - 1)
                                                            : path);
  check_input(exists(path), "{}: no such run", path);
  check_input(exists(run.config()), "{}: not a run: it has no config.toml", path);
  return run;
}

void RunFolder::discard() const {
  for (const std::string& file :
       {config(), vocabulary(), metrics(), log(), in_folder(path_, ".lock")})
    ::unlink(file.c_str());
  ::rmdir(path_.c_str());
}

std::string new_run_path(const std::string& config_path) {
  const std::string file = name_of(config_path);
  const time_t now = ::time(nullptr);
  struct tm utc {};
  ::gmtime_r(&now, &utc);
  char clock[32];
  ::strftime(clock, sizeof clock, "%Y%m%d-%H%M%S", &utc);
  const std::string path = fmt::format("runs/{}-{}", file.substr(0, file.rfind(".toml")), clock);
  std::string free = path;
  for (int i = 2; exists(free); ++i) free = fmt::format("{}-{}", path, i);
  return free;
}

RunLock::RunLock(const RunFolder& run) {
  const std::string path = in_folder(run.path(), ".lock");
  file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  check(file_ >= 0, "{}: cannot write: {}; allow writing in the folder of the run", path,
        std::strerror(errno));
  if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
    char holder[32] = "";
    const ssize_t length = ::read(file_, holder, sizeof holder - 1);
    ::close(file_);
    throw InputError(fmt::format(
        "{}: process {} is training in it; wait until it ends, or choose another folder with --run",
        run.path(), std::string_view(holder, static_cast<size_t>(std::max<ssize_t>(length, 0)))));
  }
  const std::string process = std::to_string(::getpid());
  // Only the error message above uses it.
  if (::ftruncate(file_, 0) == 0) (void)!::write(file_, process.data(), process.size());
}

RunLock::~RunLock() { ::close(file_); }

MetricsFile::MetricsFile(const std::string& path, int64_t last_step) : path_(path) {
  if (exists(path)) {
    const std::string rows = read_file(path, "metrics file");
    const std::string_view kept = rows_up_to(rows, last_step);
    if (kept.size() != rows.size()) write_file(path, kept);
  }
  file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  check(file_ >= 0, "{}: cannot write: {}", path, std::strerror(errno));
}

MetricsFile::~MetricsFile() { ::close(file_); }

void MetricsFile::write(const Json& row) {
  const std::string line = row.text() + "\n";
  const ssize_t written = ::write(file_, line.data(), line.size());
  check(written == static_cast<ssize_t>(line.size()),
        "{}: cannot write: {}; make room on the disk and continue with --resume", path_,
        written < 0 ? std::strerror(errno) : "the disk is full");
}

void MetricsFile::sync() {
  check(::fsync(file_) == 0, "{}: cannot write: {}", path_, std::strerror(errno));
}

}  // namespace heed
