#include "data/program_splits.h"

#include <algorithm>
#include <span>
#include <vector>

#include "core/check.h"
#include "core/text.h"
#include "data/example_stream.h"
#include "data/file_splits.h"
#include "data/generated.h"

namespace heed {
namespace {

constexpr int64_t checked_lines = 20;  // of each split, asked for twice

struct Asked {
  Split split;
  int64_t start, count;  // the lines [start, start + count)
  std::unique_ptr<LineSource> source = {};
  std::vector<std::string> lines = {};
};

void read(const ExampleProgram& program, Asked& asked) {
  for (std::string line; std::ssize(asked.lines) < asked.count; asked.lines.push_back(line)) {
    const int64_t i = asked.start + std::ssize(asked.lines);
    if (asked.source->next(line)) continue;
    if (program.is_kept && asked.split == Split::train && i > 0) return;
    throw InputError(end_of_program(program, *asked.source, asked.split, i));
  }
}

// Throws InputError if the program writes other lines than it has written before.
void check_repeated(const ExampleProgram& program, uint64_t seed, const Asked& before,
                    const Asked& again) {
  const auto expected = std::span(before.lines).subspan(static_cast<size_t>(again.start));
  const auto differ =
      std::mismatch(expected.begin(), expected.end(), again.lines.begin(), again.lines.end())
          .second;
  if (differ == again.lines.end()) return;
  const auto i = differ - again.lines.begin();
  const bool ignores = again.start > 0 && *differ == before.lines[static_cast<size_t>(i)];
  throw InputError(fmt::format(
      "{}: --split {} --seed {} --start {}: example {} differs from that after --start 0: {}",
      program.name, name_of(split_names, again.split), seed, again.start, again.start + i,
      ignores
          ? "the program ignores --start, the number of its first example"
          : "an example may depend on nothing but split, seed and its number; a random generator "
            "must be seeded with the three for each example"));
}

void check_contract(const ExampleProgram& program, uint64_t seed, const std::vector<Asked>& first) {
  std::vector<Asked> again;
  for (const Asked& asked : first) {
    const int64_t count = std::min(checked_lines, asked.count);
    again.push_back({asked.split, (asked.count - count) / 2, count,
                     program.start(asked.split, seed, (asked.count - count) / 2)});
  }
  for (size_t i = 0; i < again.size(); ++i) {
    read(program, again[i]);
    check_repeated(program, seed, first[i], again[i]);
  }
}

}  // namespace

ProgramSplits read_splits(const DataOptions& options, uint64_t seed, const ExampleProgram& program,
                          int64_t count) {
  std::vector<Asked> all;
  const auto ask = [&](Split split, int64_t size) {  // all programs start at once
    all.push_back({split, 0, size, program.start(split, seed, 0)});
  };
  ask(Split::val, options.val_size > 0 ? options.val_size : held_out_size);
  ask(Split::test, options.test_size > 0 ? options.test_size : held_out_size);
  ask(Split::train, count);
  for (Asked& asked : all) {
    read(program, asked);
    if (asked.split != Split::train) asked.source.reset();
  }
  if (!program.is_kept) check_contract(program, seed, all);
  ProgramSplits splits;
  for (const Asked& asked : all)
    for (const std::string& line : asked.lines) splits.texts[asked.split] += line + '\n';
  splits.trained = std::ssize(all.back().lines);
  splits.errors = all.back().source->take_errors();
  if (!program.is_kept) splits.rest = std::move(all.back().source);
  return splits;
}

}  // namespace heed
