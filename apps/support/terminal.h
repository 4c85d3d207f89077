// Results, to standard output; colours and widths of terminals.
#pragma once

#include <string>
#include <string_view>

namespace heed {

// Returns whether a stream, STDOUT_FILENO or STDERR_FILENO, is a terminal.
bool is_terminal(int stream);
// Takes no stream for a terminal from now on: Open MPI's mpirun gives each process one of its own,
// and sends on what it prints.
void hide_terminals();

enum class Colours { automatic, always, never };
// automatic: on a terminal, unless NO_COLOR is set (https://no-color.org) or TERM is "dumb".
void use_colours(Colours colours);

// Returns whether a stream shows colours.
bool shows_colours(int stream);

enum class Style { heading, good, bad, warning };
// Returns escaped(text) (core/text.h), in a style if the stream shows colours.
std::string styled(Style style, std::string_view text, int stream);

// Returns escaped(text) on one line. Names and strings of a run folder pass it, or a function that
// calls it or escaped(), on their way to a terminal, a page or a file that people read.
std::string one_line(std::string_view text);

// Returns the number of columns of the terminal that the stream is; 0 if it is none.
int terminal_width(int stream);
// Cuts each line of a text to `width` columns, with an ellipsis. 0: no limit.
std::string cut_lines(std::string_view text, int width);

// Breaks longer lines at spaces, so that each has at most `width` columns, unless a word is longer.
// The rest of a line is indented to where its last column begins, in the left half: a text after
// two spaces. A command, a line that starts with "heed ", is broken as a shell reads it. 0: no
// limit.
std::string wrapped(std::string_view text, int width);

// Prints a text. A file or a pipe gets its exact bytes. A terminal gets it escaped() (core/text.h):
// generated text, tokens and names may hold control characters.
void print(std::string_view text);
// The same, wrapped() to the width of a terminal: for tables and sentences.
void print_wrapped(std::string_view text);
// Prints a text as it is: what it quotes was escaped() or styled() before.
void print_escaped(std::string_view text);

// Until the end of the block, collects in `text` what the calling thread prints: no terminal then.
class CapturedOutput {
 public:
  explicit CapturedOutput(std::string& text);
  ~CapturedOutput();
  CapturedOutput(const CapturedOutput&) = delete;
  CapturedOutput& operator=(const CapturedOutput&) = delete;

 private:
  std::string* outer_;
};

// Thrown when nobody reads standard output any more, as in `heed … | head -1`. Not an error: the
// program then ends without a message, as other tools do.
struct OutputClosed {};

// Sends what was printed. Throws OutputClosed, or Error if it cannot be written for another reason,
// such as a full disk.
void flush_output();

}  // namespace heed
