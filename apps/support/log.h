// The log: lines to stderr and, while a run is open, to its train.log; and a progress line that is
// rewritten in place if stderr is a terminal. Lines are escaped() (core/text.h): they may quote
// tokens, names and paths.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <string>

namespace heed::logging {

// good: good news. sample: a text of any length; a terminal shows as much as fits a line.
enum class Level { info, good, sample, warning, error };
void write(Level level, fmt::string_view format, fmt::format_args args);

template <class... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::info, format, fmt::make_format_args(args...));
}
template <class... Args>
void good(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::good, format, fmt::make_format_args(args...));
}
inline void sample(const std::string& text) {
  write(Level::sample, "{}", fmt::make_format_args(text));
}
template <class... Args>
void warning(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::warning, format, fmt::make_format_args(args...));
}
template <class... Args>
void error(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::error, format, fmt::make_format_args(args...));
}

// From now on prints errors only.
void show_only_errors();

// Until the end of the block, the calling thread shows warnings and errors only. A file gets all.
class Quiet {
 public:
  Quiet();
  ~Quiet();
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

 private:
  bool outer_;
};

// Appends the lines of the calling thread to this file, too, until close_file(). Throws Error if it
// cannot be written.
void open_file(const std::string& path);
void close_file();
// Throws Error if a line could not be written to the file since it was opened.
void check_file();

// Returns whether stderr is a terminal.
bool on_terminal();

struct Progress {
  int64_t step = 0, steps = 0;
  double loss = 0;
  double tokens_per_second = 0;
  double seconds_left = 0;
};
// Rewrites the progress line, at most ten times a second. Log lines are printed above it. Does
// nothing if stderr is not a terminal.
void show(const Progress& progress);
// Replaces the progress line by these lines. Every line but the last ends with a line feed.
void show_lines(const std::string& lines);
void hide_progress();

// Returns the progress line, at most `width` columns wide, with the bar only if it fits:
// "████░░░░░░░░░░░░  step 500/2000  loss 1.234  52,310 tokens/s  1:05 left".
std::string progress_line(const Progress& progress, int width);
// 65 → "1:05", 3700 → "1:01:40".
std::string clock_text(double seconds);

}  // namespace heed::logging
