#include "apps/training/program_lines.h"

#include <fmt/format.h>

#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <thread>
#include <unistd.h>

#include "core/text.h"

namespace heed {

constexpr const char* cannot_start_program = "cannot start the program that writes examples";
constexpr size_t max_shown = 500;  // bytes of a line of standard error

// Closes the end of the program, so that reading finds the end of what it writes.
static int reading_end(ProcessPipe& pipe) {
  pipe.writing.close();
  ::fcntl(pipe.reading, F_SETFL, O_NONBLOCK);
  return pipe.reading;
}

ProgramLines::ProgramLines(const std::vector<std::string>& words, const std::string& folder,
                           std::chrono::seconds timeout)
    : output_(make_pipe(cannot_start_program)),
      error_output_(make_pipe(cannot_start_program)),
      waker_(make_pipe(cannot_start_program)),
      timeout_(timeout) {
  process_.emplace(ProcessStart{.program = words.at(0),
                                .arguments = words,
                                .descriptors = {{output_.writing, STDOUT_FILENO},
                                                {error_output_.writing, STDERR_FILENO}},
                                .folder = folder},
                   cannot_start_program);
  reading_end(output_);
  reading_end(error_output_);
}

ProgramLines::~ProgramLines() {
  output_.reading.close();
  error_output_.reading.close();
  if (end_) return;
  process_->signal_group(SIGTERM);
  if (end_within(std::chrono::milliseconds(500))) return;
  process_->signal_group(SIGKILL);
  process_->wait();
}

std::optional<ProcessEnd> ProgramLines::end_within(std::chrono::milliseconds time) {
  for (const auto last = std::chrono::steady_clock::now() + time; !end_;) {
    end_ = process_->ended();
    if (end_ || std::chrono::steady_clock::now() > last) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return end_;
}

bool ProgramLines::next(std::string& line) {
  size_t end = 0;
  while ((end = text_.find('\n', searched_)) == text_.npos) {
    searched_ = text_.size();
    if (!wait()) return false;
  }
  line.assign(text_, begin_, end - begin_);
  if (line.ends_with('\r')) line.pop_back();
  begin_ = searched_ = end + 1;
  return true;
}

bool ProgramLines::wait() {
  constexpr std::chrono::seconds slice(1);  // while this process is stopped, no more time counts
  text_.erase(0, begin_);
  searched_ -= begin_;
  begin_ = 0;
  if (text_.size() > max_line_bytes) {
    why_ = fmt::format("the program wrote a line of more than {} MiB", max_line_bytes >> 20);
    return false;
  }
  for (std::chrono::seconds left = timeout_; why_.empty();) {
    pollfd files[] = {{output_.reading, POLLIN, 0},
                      {error_output_.reading, POLLIN, 0},
                      {waker_.reading, POLLIN, 0}};
    const int ready = ::poll(files, std::size(files), 1000);
    if (ready == 0 && (left -= slice).count() == 0)
      why_ = fmt::format("the program wrote nothing for {} s", timeout_.count());
    if (ready <= 0) continue;
    if (files[2].revents != 0) why_ = "it was stopped";
    if (files[1].revents != 0) read_errors();
    if (files[0].revents == 0) continue;
    char chunk[1 << 16];
    const ssize_t count = ::read(output_.reading, chunk, sizeof chunk);
    if (count == 0) return false;
    if (count < 0) continue;
    text_.append(chunk, static_cast<size_t>(count));
    return true;
  }
  return false;
}

void ProgramLines::read_errors() {
  char chunk[1 << 12];
  ssize_t count = 0;
  while ((count = ::read(error_output_.reading, chunk, sizeof chunk)) > 0) {
    error_text_.append(chunk, static_cast<size_t>(count));
    size_t end = 0;
    while ((end = error_text_.find('\n')) != error_text_.npos) {
      add_error(error_text_.substr(0, end));
      error_text_.erase(0, end + 1);
    }
    if (error_text_.size() > max_shown) error_text_.resize(max_shown);
  }
  if (count == 0) {
    add_error(std::exchange(error_text_, ""));
    error_output_.reading.close();  // poll() ignores it
  }
}

void ProgramLines::add_error(std::string line) {
  line = shortened(line, max_shown);
  if (line.find_first_not_of(' ') == line.npos) return;
  if (++error_lines_ <= max_error_lines) errors_.push_back(line);
  if (error_lines_ == max_error_lines) errors_.emplace_back("(what follows is not logged)");
  last_error_ = std::move(line);
}

std::string ProgramLines::problem() {
  const std::string rest = text_.empty() ? "" : " in the middle of a line";
  if (why_.empty()) {
    end_within(std::chrono::seconds(1));
    why_ = !end_ ? "the program closed its standard output" + rest
           : end_->signal > 0
               ? fmt::format("the program was ended by signal {} ({}){}", end_->signal,
                             ::strsignal(end_->signal), rest)
               : fmt::format("the program ended with exit code {}{}", end_->code, rest);
  }
  if (error_output_.reading) read_errors();
  add_error(std::exchange(error_text_, ""));
  return last_error_.empty() ? why_ : why_ + ": " + last_error_;
}

}  // namespace heed
