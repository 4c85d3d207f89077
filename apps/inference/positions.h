// Which targets count: those at some positions.
#pragma once

#include <cstdint>
#include <string>

#include "data/dataset.h"

namespace heed {

// The positions of inputs, from 0, whose targets count: first to last, both included.
struct PositionRange {
  int64_t first = 0, last = 0;

  // Reads "32:63", or "32" for one position. Throws InputError that names the option --positions.
  static PositionRange parse(const std::string& text);
  std::string text() const;  // "32:63"
};

// Returns the dataset whose targets at other positions are `ignored`: a model reads the same. `all`
// must outlive it.
Dataset at_positions(const Dataset& all, const PositionRange& range);

// Throws InputError, which names the option, if there are no targets.
void check_any_target(int64_t targets, const PositionRange& range);

}  // namespace heed
