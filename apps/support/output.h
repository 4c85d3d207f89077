// Results, to standard output.
#pragma once

#include <string_view>

namespace heed {

// Prints a text. A file or a pipe gets its exact bytes. A terminal gets it escaped() (core/text.h):
// generated text, tokens and names may hold control characters.
void print(std::string_view text);
// Prints a text as it is: what it quotes was escaped() or styled() (apps/support/colour.h) before.
void print_escaped(std::string_view text);

// Sends what was printed. Throws Error if it cannot be written: the disk is full, or the reader of
// a pipe has ended.
void flush_output();

}  // namespace heed
