// The first lines that a program writes for each split, and whether it keeps to its contract.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "data/example_program.h"
#include "data/options.h"

namespace heed {

// The training examples whose digest run.json has, and which a run keeps.
inline constexpr int64_t first_examples = 1000;

struct ProgramSplits {
  std::map<Split, std::vector<std::string>> lines;
  std::vector<std::string> errors = {};   // what training has written to its standard error
  std::unique_ptr<LineSource> rest = {};  // the lines of training after them; null if kept
};

// Reads data.val_size and data.test_size lines (0: held_out_size), and of training `count`; of a
// run that has kept its examples, all of them. Asks the program a second time for some lines.
// Throws InputError if they differ, or if the program ends.
ProgramSplits read_splits(const DataOptions& options, uint64_t seed, const ExampleProgram& program,
                          int64_t count);

// Returns what to say of the end of a program before example i of a split.
std::string end_of_program(const ExampleProgram& program, LineSource& source, Split split,
                           int64_t i);

}  // namespace heed
