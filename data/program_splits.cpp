#include "data/program_splits.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/check.h"
#include "data/file_splits.h"
#include "data/files.h"
#include "data/generated.h"

namespace heed {
namespace {

constexpr int64_t checked_lines = 20;  // of each split, asked for twice

// The lines [start, start + count) of a split.
struct Asked {
  Split split;
  int64_t start, count;
  std::unique_ptr<LineSource> source = {};
  std::vector<std::string> lines = {};
};

// All programs start at once. Those of held-out splits end.
void read(const ExampleProgram& program, uint64_t seed, std::vector<Asked>& all) {
  for (Asked& asked : all) asked.source = program.start(asked.split, seed, asked.start);
  for (Asked& asked : all) {
    for (std::string line; std::ssize(asked.lines) < asked.count; asked.lines.push_back(line))
      if (!asked.source->next(line))
        throw InputError(end_of_program(program, *asked.source, asked.split,
                                        asked.start + std::ssize(asked.lines)));
    if (asked.split != Split::train) asked.source.reset();
  }
}

// Throws InputError if the program writes other lines than it has written before.
void check_contract(const ExampleProgram& program, uint64_t seed, const std::vector<Asked>& first) {
  std::vector<Asked> again;
  for (const Asked& asked : first) {
    const int64_t count = std::min(checked_lines, asked.count);
    again.push_back({asked.split, (asked.count - count) / 2, count});
  }
  read(program, seed, again);
  for (size_t split = 0; split < first.size(); ++split)
    for (int64_t i = 0; i < again[split].count; ++i) {
      const std::vector<std::string>& before = first[split].lines;
      const int64_t start = again[split].start;
      const std::string& line = again[split].lines[static_cast<size_t>(i)];
      if (line == before[static_cast<size_t>(start + i)]) continue;
      throw InputError(fmt::format(
          "{}: --split {} --seed {} --start {}: example {} differs from that after --start 0: {}",
          program.name, name_of(split_names, again[split].split), seed, start, start + i,
          start > 0 && line == before[static_cast<size_t>(i)]
              ? "the program ignores --start, the number of its first example"
              : "an example may depend on nothing but split, seed and its number; a random "
                "generator must be seeded with the three for each example"));
    }
}

}  // namespace

ProgramSplits read_splits(const DataOptions& options, uint64_t seed, const ExampleProgram& program,
                          int64_t count) {
  const auto size = [](int64_t wanted) { return wanted > 0 ? wanted : held_out_size; };
  std::vector<Asked> all;
  all.push_back({Split::val, 0, size(options.val_size)});
  all.push_back({Split::test, 0, size(options.test_size)});
  all.push_back({Split::train, 0, count});
  ProgramSplits splits;
  if (program.kept) {
    for (const Asked& asked : all) {
      std::vector<std::string>& lines = splits.lines[asked.split];
      for_each_line(program.kept(asked.split),
                    [&](std::string_view line, int64_t) { lines.emplace_back(line); });
      check_input(asked.split == Split::train || std::ssize(lines) >= asked.count,
                  "{}: --split {}: expected example {}: what the run has kept of them ends",
                  program.name, name_of(split_names, asked.split), lines.size());
    }
    return splits;
  }
  read(program, seed, all);
  check_contract(program, seed, all);
  for (Asked& asked : all) splits.lines[asked.split] = std::move(asked.lines);
  splits.rest = std::move(all.back().source);
  splits.errors = splits.rest->take_errors();
  return splits;
}

std::string end_of_program(const ExampleProgram& program, LineSource& source, Split split,
                           int64_t i) {
  const std::string problem = source.problem();
  std::vector<std::string> errors = source.take_errors();
  if (!errors.empty()) errors.pop_back();  // it is in the error
  for (const std::string& line : errors) program.log(line);
  return fmt::format("{}: --split {}: expected example {}: {}", program.name,
                     name_of(split_names, split), i, problem);
}

}  // namespace heed
