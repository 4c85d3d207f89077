// Colours and widths of terminals.
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

// Returns the number of columns of the terminal that the stream is; 0 if it is none.
int terminal_width(int stream);
// Cuts each line of a text to `width` columns, with an ellipsis. 0: no limit.
std::string cut_lines(std::string_view text, int width);

}  // namespace heed
