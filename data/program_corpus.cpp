// The data of data.command: the examples that a program writes.
//
// Validation, test and the first training examples are read at once. The others are read ahead
// while the model trains (data/example_stream.h), and never stored.
#include "data/program_corpus.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/check.h"
#include "data/example_loader.h"
#include "data/example_stream.h"
#include "data/file_splits.h"
#include "data/files.h"
#include "data/generated.h"
#include "data/program_splits.h"

namespace heed {
namespace {

// Makes examples of lines.
class LineReader {
 public:
  LineReader(const DataOptions& options, const LoadRequest& request, const std::string& command)
      : loader_(options, request) {
    for (const auto& [name, split] : split_names)
      commands_[split] = fmt::format("{} --split {}", command, name);
  }
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  // Reads the first lines of a split. They must outlive load().
  void read(Split split, const std::vector<std::string>& lines) {
    loader_.open(split);
    for (const std::string& line : lines) {
      const LineOrigin origin{commands_.at(split), &line - lines.data() + 1};
      parse_example(line, origin, line_);
      loader_.add(split, line_, origin);
    }
  }
  Corpus load(const std::string& name, std::vector<std::string> notes) {
    Corpus corpus = loader_.load(name, "example", std::move(notes));
    first_ = corpus.splits.at("train");
    return corpus;
  }
  // Reads example i of training, after load().
  void read_later(int64_t i, const std::string& line, Example& example) {
    const LineOrigin origin{commands_.at(Split::train), i + 1};
    parse_example(line, origin, line_);
    if (loader_.read(line_, origin, example)) first_.get(loader_.replacement(i), example);
  }

 private:
  ExampleLoader loader_;
  std::map<Split, std::string> commands_;  // that write the lines
  ExampleLine line_;
  Dataset first_;
};

}  // namespace

Corpus load_program(const DataOptions& options, uint64_t seed, const ExampleProgram& program,
                    Files& files, const LoadRequest& request) {
  const bool is_chosen = request.existing.target != nullptr;
  ProgramSplits splits = read_splits(
      options, seed, program,
      is_chosen ? first_examples : std::max(first_examples, options.vocabulary_examples));
  const std::string command = fmt::format("{} --seed {} --start 0", program.name, seed);
  std::vector<std::string> notes;
  for (const std::string& line : splits.errors)
    notes.push_back(fmt::format("{}: {}", program.name, line));
  const auto reader = std::make_shared<LineReader>(options, request, command);
  for (const auto& [split, lines] : splits.lines) reader->read(split, lines);
  const std::vector<std::string>& train = splits.lines[Split::train];
  for (const Split split : {Split::val, Split::test}) {
    const std::vector<std::string>& own = splits.lines[split];
    const auto differ = std::mismatch(own.begin(), own.end(), train.begin(), train.end());
    check_input(differ.first != own.end() && differ.second != train.end(),
                "{}: --split {} has the examples of --split train: the program ignores --split",
                program.name, name_of(split_names, split));
  }
  Corpus corpus = reader->load(program.name, std::move(notes));

  for (const auto& [path, digest] : program.files) files.add(path, {digest});
  for (const auto& [split, lines] : splits.lines) {
    std::string& kept = corpus.kept_lines[name_of(split_names, split)];
    for (const std::string& line : lines)
      if (split != Split::train || &line - lines.data() < first_examples) kept += line + '\n';
    files.add(command, {kept});
  }
  corpus.program_files = program.files;
  if (program.kept) return corpus;

  Dataset& training = corpus.splits["train"];
  const Dataset first = training;
  const auto stream = std::make_shared<ExampleStream>(
      program, seed, std::move(splits.rest), first.size,
      [reader](const std::string& line, int64_t i, Example& example) {
        reader->read_later(i, line, example);
      });
  std::vector<Example> more;
  for (int64_t i = first.size; i < program.at_hand; ++i) stream->get(i, more.emplace_back());
  training.at_hand = first.size + std::ssize(more);
  training.size = unlimited;
  const auto get = [first, stream, more = std::move(more), at_hand = training.at_hand](
                       int64_t i, Example& example) {
    if (i < first.size) return first.get(i, example);
    if (i >= at_hand) return stream->get(i, example);
    example = more[static_cast<size_t>(i - first.size)];
  };
  training.get = feature_dataset(corpus.format, unlimited, get).get;
  corpus.seconds_waited = [stream] { return stream->seconds_waited(); };
  corpus.notes.push_back(fmt::format("train: unlimited examples of {}", program.name));
  return corpus;
}

}  // namespace heed
