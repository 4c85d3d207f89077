// Reads files with one example per line: lines, pairs, labelled lines. The rows are still text.
#pragma once

#include <map>
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
  int64_t line;                     // number of the line, from 1
};

using SplitRows = std::map<Split, std::vector<Row>>;  // all three splits

// Reads the rows of every split: from its own file if the options name one, else by hash of the
// source (of lines: the line). Skips blank lines. Adds to `notes` the number of lines skipped for
// their alphabet, and of inputs that validation or test files share with training. Throws
// InputError for a file that Files rejects, a line with the wrong number of columns, parallel files
// of different lengths, a labelled file with swapped columns, and an empty split.
SplitRows read_rows(const DataOptions& options, Files& files, std::vector<std::string>& notes);

}  // namespace heed
