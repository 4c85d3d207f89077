// Results, to standard output.
#pragma once

#include <string_view>

namespace heed {

// Prints a text. A file or a pipe gets its exact bytes. A terminal gets it escaped() (core/text.h):
// generated text, tokens and names may hold control characters.
void print(std::string_view text);
// Prints a text as it is: what it quotes was escaped() or styled() (apps/support/colour.h) before.
void print_escaped(std::string_view text);

// Thrown when nobody reads standard output any more, as in `heed … | head -1`. Not an error: the
// program then ends without a message, as other tools do.
struct OutputClosed {};

// Sends what was printed. Throws OutputClosed, or Error if it cannot be written for another reason,
// such as a full disk.
void flush_output();

}  // namespace heed
