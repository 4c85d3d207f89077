#include "apps/support/log.h"

#include <fmt/format.h>
#include <spdlog/details/null_mutex.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

#include "apps/support/clock.h"
#include "apps/support/files.h"
#include "core/check.h"
#include "core/text.h"

namespace heed::logging {
namespace {

// Writes log lines to stderr. A log line erases the progress line and prints it again below.
class TerminalSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  void set_progress(std::string line) {
    const std::lock_guard lock(mutex_);
    erase();
    progress_ = std::move(line);
    std::fputs(progress_.c_str(), stderr);
    std::fflush(stderr);
  }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t text;
    formatter_->format(message, text);
    const bool coloured =
        message.level >= spdlog::level::warn && on_terminal() && std::getenv("NO_COLOR") == nullptr;
    erase();
    if (coloured) std::fputs(message.level >= spdlog::level::err ? "\033[31m" : "\033[33m", stderr);
    std::fwrite(text.data(), 1, text.size(), stderr);
    if (coloured) std::fputs("\033[m", stderr);
    std::fputs(progress_.c_str(), stderr);
  }
  void flush_() override { std::fflush(stderr); }
  void erase() const {
    if (!progress_.empty()) std::fputs("\r\033[K", stderr);
  }

  std::string progress_;
};

// Appends log lines to a file.
class FileSink : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  explicit FileSink(const std::string& path) : file_(path) {}

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t text;
    formatter_->format(message, text);
    file_.write({text.data(), text.size()});
  }
  void flush_() override {}

  AppendedFile file_;
};

struct Loggers {
  std::shared_ptr<TerminalSink> terminal = std::make_shared<TerminalSink>();
  spdlog::logger to_terminal{"terminal", terminal};
  std::unique_ptr<spdlog::logger> to_file;
  std::string file_problem;  // the first one

  Loggers() { to_terminal.set_pattern("%v"); }
};

Loggers& loggers() {
  static Loggers all;
  return all;
}

// 52310 → "52,310"
std::string with_commas(double number) {
  std::string digits = fmt::format("{:.0f}", number);
  for (auto i = static_cast<int>(digits.size()) - 3; i > 0; i -= 3)
    digits.insert(static_cast<size_t>(i), ",");
  return digits;
}

}  // namespace

void write(Level level, fmt::string_view format, fmt::format_args args) {
  std::string text = escaped(fmt::vformat(format, args));
  auto spdlog_level = spdlog::level::info;
  if (level == Level::warning) {
    spdlog_level = spdlog::level::warn;
    text = "warning: " + text;
  } else if (level == Level::error) {
    spdlog_level = spdlog::level::err;
    text = "error: " + text;
  }
  Loggers& all = loggers();
  for (spdlog::logger* logger : {&all.to_terminal, all.to_file.get()}) {
    if (!logger) continue;
    logger->log(spdlog_level, spdlog::string_view_t(text));
    logger->flush();
  }
}

void open_file(const std::string& path) {
  loggers().to_file = std::make_unique<spdlog::logger>("file", std::make_shared<FileSink>(path));
  loggers().to_file->set_pattern("%Y-%m-%d %H:%M:%S %v", spdlog::pattern_time_type::utc);
  // A line that is lost does not stop a training: see check_file().
  loggers().file_problem.clear();
  loggers().to_file->set_error_handler([](const std::string& problem) {
    if (loggers().file_problem.empty()) loggers().file_problem = problem;
  });
}

void check_file() {
  if (!loggers().file_problem.empty()) throw Error(std::exchange(loggers().file_problem, ""));
}

void close_file() { loggers().to_file.reset(); }

bool on_terminal() {
  static const bool terminal = ::isatty(STDERR_FILENO) == 1;
  return terminal;
}

void show(const Progress& progress) {
  static double last = 0;
  if (!on_terminal() || now() - last < 0.1) return;
  last = now();
  winsize size{};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  loggers().terminal->set_progress(progress_line(progress, known ? size.ws_col - 1 : 79));
}

void hide_progress() {
  if (on_terminal()) loggers().terminal->set_progress("");
}

std::string progress_line(const Progress& progress, int width) {
  std::string line =
      fmt::format("step {}/{}  loss {:.4g}  {} tokens/s", progress.step, progress.steps,
                  progress.loss, with_commas(progress.tokens_per_second));
  if (std::isfinite(progress.seconds_left))
    line += fmt::format("  {} left", clock_text(progress.seconds_left));
  return line.substr(0, static_cast<size_t>(std::max(width, 0)));
}

std::string clock_text(double seconds) {
  const auto whole = static_cast<int64_t>(std::clamp(seconds, 0.0, 1e9) + 0.5);
  const int64_t hours = whole / 3600, minutes = whole / 60 % 60;
  return hours > 0 ? fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60)
                   : fmt::format("{}:{:02}", minutes, whole % 60);
}

}  // namespace heed::logging
