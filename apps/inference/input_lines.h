// Input for a model, line by line.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "apps/inference/generation.h"

namespace heed {

// The maximum number of tokens in a line: attention over them takes seconds.
inline constexpr int64_t max_line_tokens = 1 << 15;

struct InputLine {
  int64_t number;  // from 1
  std::string text;
  Sequence ids;
  std::string error;  // why it has no ids; "" if it has
};

// Reads the lines of a file, or of standard input for "-", and calls answer(lines) with one or
// more of them, in order: with those that have arrived, at most 256, so that a program at the other
// end of a pipe gets its answer before it sends the next line. A line for which `encode` throws
// InputError, that is too long, or that has more tokens than `positions` (0: no limit) is logged as
// an error with its number. Returns the number of such lines. Rank 0 reads them for all ranks.
int64_t answer_lines(const std::string& path, int64_t positions,
                     const std::function<Sequence(const std::string&)>& encode,
                     const std::function<void(std::span<const InputLine>)>& answer);

}  // namespace heed
