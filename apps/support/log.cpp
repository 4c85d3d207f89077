#include "apps/support/log.h"

#include <fmt/format.h>
#include <spdlog/details/null_mutex.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <mutex>
#include <unistd.h>
#include <utility>

#include "apps/support/clock.h"
#include "apps/support/files.h"
#include "apps/support/numbers.h"
#include "apps/support/terminal.h"
#include "core/check.h"
#include "core/text.h"

namespace heed::logging {
namespace {

// Writes log lines to stderr. A log line erases the progress lines and prints them again below.
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
    erase();
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fputs(progress_.c_str(), stderr);
  }
  void flush_() override { std::fflush(stderr); }
  void erase() const {
    if (progress_.empty()) return;
    std::fputs("\r\033[K", stderr);
    for (const char c : progress_)
      if (c == '\n') std::fputs("\033[A\033[K", stderr);
  }

  std::string progress_;
};

// Appends log lines to a file.
class FileSink : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  explicit FileSink(const std::string& path) : file_(path) {}
  bool restore() { return file_.restore(); }

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

  Loggers() {
    to_terminal.set_pattern("%v");
    to_terminal.flush_on(spdlog::level::info);
  }
};

// What one thread logs: a process may train several runs.
struct ThreadLog {
  std::shared_ptr<FileSink> file;
  std::unique_ptr<spdlog::logger> to_file;
  std::string file_problem;  // the first one
  bool is_quiet = false;     // in the terminal
};
thread_local ThreadLog own;

Loggers& loggers() {
  static Loggers all;
  return all;
}

spdlog::level::level_enum level_of(Level level) {
  return level == Level::warning ? spdlog::level::warn
         : level == Level::error ? spdlog::level::err
                                 : spdlog::level::info;
}

bool shows(Level level) { return loggers().to_terminal.should_log(level_of(level)); }

}  // namespace

void show_only_errors() { loggers().to_terminal.set_level(spdlog::level::err); }

void write(Level level, fmt::string_view format, fmt::format_args args) {
  if (!shows(level)) return;
  const char* const prefix = level == Level::warning ? "warning: "
                             : level == Level::error ? "error: "
                                                     : "";
  const std::string text = prefix + escaped(fmt::vformat(format, args));
  std::string shown = text;
  if (level == Level::sample) shown = cut_lines(text, terminal_width(STDERR_FILENO));
  if (level == Level::good) shown = styled(Style::good, text, STDERR_FILENO);
  if (level == Level::warning) shown = styled(Style::warning, text, STDERR_FILENO);
  if (level == Level::error) shown = styled(Style::bad, text, STDERR_FILENO);
  if (!own.is_quiet || level >= Level::warning)
    loggers().to_terminal.log(level_of(level), spdlog::string_view_t(shown));
  if (own.to_file) own.to_file->log(level_of(level), spdlog::string_view_t(text));
}

void open_file(const std::string& path) {
  own.file = std::make_shared<FileSink>(path);
  own.to_file = std::make_unique<spdlog::logger>("file", own.file);
  own.to_file->set_pattern("%Y-%m-%d %H:%M:%S %v", spdlog::pattern_time_type::utc);
  // A line that is lost does not stop a training: see check_file().
  own.file_problem.clear();
  own.to_file->set_error_handler([](const std::string& problem) {
    if (own.file_problem.empty()) own.file_problem = problem;
  });
}

void check_file() {
  if (own.file && own.file->restore())
    warning("the log of the run was deleted or replaced during the training; written again");
  if (!own.file_problem.empty()) throw Error(std::exchange(own.file_problem, ""));
}

void close_file() {
  own.to_file.reset();
  own.file.reset();
}

Quiet::Quiet() : outer_(std::exchange(own.is_quiet, true)) {}
Quiet::~Quiet() { own.is_quiet = outer_; }

bool on_terminal() {
  static const bool terminal = is_terminal(STDERR_FILENO);
  return terminal;
}

void show(const Progress& progress) {
  static double last = 0;
  if (!on_terminal() || own.is_quiet || !shows(Level::info) || now() - last < 0.1) return;
  last = now();
  std::string line = progress_line(progress, terminal_width(STDERR_FILENO) - 1);
  const size_t bar = line.find("  ");  // its end; it is the only part with more than ASCII
  if (bar != line.npos && line.starts_with("\xe2"))
    line = styled(Style::good, line.substr(0, bar), STDERR_FILENO) + line.substr(bar);
  loggers().terminal->set_progress(line);
}

void show_lines(const std::string& lines) {
  const int width = terminal_width(STDERR_FILENO) - 1;
  if (on_terminal()) loggers().terminal->set_progress(cut_lines(escaped(lines), width));
}

void hide_progress() {
  if (on_terminal()) loggers().terminal->set_progress("");
}

std::string progress_line(const Progress& progress, int width) {
  constexpr int max_bar = 24, min_bar = 8;
  std::string line = fmt::format("step {}/{}  loss {}  {} tokens/s", progress.step, progress.steps,
                                 four_digits(progress.loss), grouped(progress.tokens_per_second));
  if (std::isfinite(progress.seconds_left))
    line += fmt::format("  {} left", clock_text(progress.seconds_left));
  const int cells = std::min(max_bar, width - 2 - static_cast<int>(line.size()));
  if (cells < min_bar) return line.substr(0, static_cast<size_t>(std::max(width, 0)));
  const double fraction = static_cast<double>(progress.step) /
                          static_cast<double>(std::max<int64_t>(1, progress.steps));
  std::string bar;
  for (int cell = 0; cell < cells; ++cell) bar += cell < fraction * cells ? "█" : "░";
  return bar + "  " + line;
}

std::string clock_text(double seconds) {
  const auto whole = static_cast<int64_t>(std::clamp(seconds, 0.0, 1e9) + 0.5);
  const int64_t hours = whole / 3600, minutes = whole / 60 % 60;
  return hours > 0 ? fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60)
                   : fmt::format("{}:{:02}", minutes, whole % 60);
}

}  // namespace heed::logging
