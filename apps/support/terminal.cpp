#include "apps/support/terminal.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "core/check.h"
#include "core/text.h"

namespace heed {
namespace {

Colours chosen = Colours::automatic;
bool terminals_hidden = false;
// Where the thread prints; null: to stdout.
constinit thread_local std::string* captured_output = nullptr;

bool is_set(const char* name) {
  const char* const value = std::getenv(name);
  return value && *value;
}

const char* code_of(Style style) {
  switch (style) {
    case Style::heading:
      return "\033[1m";
    case Style::good:
      return "\033[32m";
    case Style::bad:
      return "\033[31m";
    case Style::warning:
      return "\033[33m";
  }
  return "";
}

// Returns where each word of a line begins after its indentation, and its end. Text in quotes is a
// part of a word in a command, and nowhere else.
struct WordRange {
  size_t begin, end;
};
std::vector<WordRange> words_in(std::string_view line, bool is_command) {
  std::vector<WordRange> words;
  char quote = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    if (quote == 0 && line[i] == ' ') continue;
    if (i == 0 || (quote == 0 && line[i - 1] == ' ')) words.push_back({i, i});
    if (is_command && (line[i] == '"' || line[i] == '\'') && (quote == 0 || quote == line[i]))
      quote = quote == 0 ? line[i] : 0;
    words.back().end = i + 1;
  }
  return words;
}

// Returns the number of columns that a text takes. Codes of styled() take none.
size_t columns(std::string_view text) {
  size_t count = character_count(text);
  for (size_t at = 0; (at = text.find("\033[", at)) != text.npos;) {
    const size_t end = std::min(text.find('m', at), text.size() - 1) + 1;
    count -= std::min(count, end - at);
    at = end;
  }
  return count;
}

std::string wrapped_line(std::string_view line, size_t width) {
  const size_t first = line.find_first_not_of(' ');
  if (first == line.npos || columns(line) <= width) return std::string(line);
  const bool is_command = line.substr(first).starts_with("heed ");
  const std::vector<WordRange> words = words_in(line, is_command);
  size_t indent = first + (is_command ? 4 : 2);
  for (size_t i = 1; i < words.size() && !is_command; ++i)
    if (const size_t column = columns(line.substr(0, words[i].begin));
        words[i].begin > words[i - 1].end + 1 && column <= width / 2)
      indent = column;
  const std::string_view end = is_command ? " \\\n" : "\n";
  std::string text(line.substr(0, words[0].end));
  size_t used = columns(text);
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = line.substr(words[i].begin, words[i].end - words[i].begin);
    const size_t space = words[i].begin - words[i - 1].end;
    const bool fits = used + space + columns(word) + (is_command ? 2 : 0) <= width;
    if (!fits) (text += end).append(indent, ' ') += word;
    if (fits) text.append(space, ' ') += word;
    used = (fits ? used + space : indent) + columns(word);
  }
  return text;
}

int write_error = 0;  // the first errno of a write to standard output

// fwrite() writes, too, when the buffer is full.
void note_error(bool written) {
  if (!written && write_error == 0) write_error = errno;
}

}  // namespace

bool is_terminal(int stream) {
  if (stream == STDOUT_FILENO && captured_output) return false;
  return !terminals_hidden && ::isatty(stream) == 1;
}

void hide_terminals() { terminals_hidden = true; }

void use_colours(Colours colours) { chosen = colours; }

bool shows_colours(int stream) {
  if (chosen != Colours::automatic) return chosen == Colours::always;
  const char* const terminal = std::getenv("TERM");
  return is_terminal(stream) && !is_set("NO_COLOR") &&
         !(terminal && std::string_view(terminal) == "dumb");
}

std::string styled(Style style, std::string_view text, int stream) {
  if (!shows_colours(stream)) return escaped(text);
  return code_of(style) + escaped(text) + "\033[m";
}

std::string one_line(std::string_view text) { return shortened(text, text.size()); }

int terminal_width(int stream) {
  if (!is_terminal(stream)) return 0;
  winsize size{};
  return ::ioctl(stream, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string cut_lines(std::string_view text, int width) {
  std::string result;
  int column = 0;
  size_t last = 0;  // where the character in the last column begins
  for (size_t at = 0; at < text.size();) {
    const size_t length = std::max<size_t>(1, utf8_length(text.substr(at)));
    const std::string_view character = text.substr(at, length);
    at += length;
    if (character == "\n") {
      column = 0;
    } else if (width > 0 && ++column > width) {
      if (column == width + 1) result.replace(last, result.npos, "…");
      continue;
    }
    last = result.size();
    result += character;
  }
  return result;
}

std::string wrapped(std::string_view text, int width) {
  if (width <= 0) return std::string(text);
  std::string result;
  for (size_t end = 0; end != text.npos; text.remove_prefix(end == text.npos ? 0 : end + 1)) {
    end = text.find('\n');
    result += wrapped_line(text.substr(0, end), static_cast<size_t>(width));
    if (end != text.npos) result += '\n';
  }
  return result;
}

void print_wrapped(std::string_view text) { print(wrapped(text, terminal_width(STDOUT_FILENO))); }

void print(std::string_view text) {
  const bool terminal = is_terminal(STDOUT_FILENO);
  const std::string shown = terminal ? escaped(text) : std::string();
  print_escaped(terminal ? shown : text);
}

void print_escaped(std::string_view text) {
  if (captured_output) {
    captured_output->append(text);
    return;
  }
  note_error(std::fwrite(text.data(), 1, text.size(), stdout) == text.size());
}

CapturedOutput::CapturedOutput(std::string& text) : outer_(std::exchange(captured_output, &text)) {}
CapturedOutput::~CapturedOutput() { captured_output = outer_; }

void flush_output() {
  note_error(std::fflush(stdout) == 0);
  if (write_error == EPIPE) throw OutputClosed();
  // The error of an earlier flush stays in ferror().
  check(write_error == 0 && std::ferror(stdout) == 0,
        "standard output: cannot write: {}; is the disk full?", std::strerror(write_error));
}

}  // namespace heed
