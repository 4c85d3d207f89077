#include "apps/support/terminal.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/check.h"
#include "core/text.h"

namespace heed {
namespace {

Colours chosen = Colours::automatic;
bool terminals_hidden = false;

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

int write_error = 0;  // the first errno of a write to standard output

// fwrite() writes, too, when the buffer is full.
void note_error(bool written) {
  if (!written && write_error == 0) write_error = errno;
}

}  // namespace

bool is_terminal(int stream) { return !terminals_hidden && ::isatty(stream) == 1; }

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

void print(std::string_view text) {
  static const bool terminal = is_terminal(STDOUT_FILENO);
  const std::string shown = terminal ? escaped(text) : std::string();
  print_escaped(terminal ? shown : text);
}

void print_escaped(std::string_view text) {
  note_error(std::fwrite(text.data(), 1, text.size(), stdout) == text.size());
}

void flush_output() {
  note_error(std::fflush(stdout) == 0);
  if (write_error == EPIPE) throw OutputClosed();
  // The error of an earlier flush stays in ferror().
  check(write_error == 0 && std::ferror(stdout) == 0,
        "standard output: cannot write: {}; is the disk full?", std::strerror(write_error));
}

}  // namespace heed
