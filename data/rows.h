// Files of one example a line: lines, pairs, labelled lines. Here they are read and split; what
// they hold is still text.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "data/files.h"
#include "data/options.h"
#include "data/split.h"

namespace heed {

struct Row {
  std::string_view source, target;  // lines: source is empty; labelled: target is the label
  std::string_view path;            // of the file
  int64_t line;                     // in it, from 1
};

using SplitRows = std::array<std::vector<Row>, 3>;  // by Split

// Rows of every split: from a file of its own where the options name one, else by hash of the
// source (of lines: the line). Blank lines are skipped. `notes` tells of lines skipped for their
// alphabet and of inputs that a file for validation or test has in common with training. Throws
// InputError for a file that Files refuses, a line with the wrong number of columns, parallel files
// of different lengths, and a split that comes out empty.
SplitRows read_rows(const DataOptions& options, Files& files, std::vector<std::string>& notes);

}  // namespace heed
