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
#include "data/features.h"
#include "data/file_splits.h"
#include "data/files.h"
#include "data/generated.h"
#include "data/program_splits.h"

namespace heed {
namespace {

// Makes examples of lines, with the options and all else that a loader refers to.
class LineReader {
 public:
  LineReader(const DataOptions& options, const LoadRequest& request, const std::string& command)
      : options_(options),
        existing_(request.existing),
        request_{request.framing, request.at_positions, request.queries, existing_},
        loader_(options_, request_) {
    for (const auto& [name, split] : split_names)
      commands_[split] = fmt::format("{} --split {}", command, name);
  }
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  // Reads the first lines of a split. The text must outlive load().
  void read(Split split, const std::string& text) {
    loader_.open(split);
    for_each_line(text, [&](std::string_view line, int64_t number) {
      const LineOrigin origin{commands_.at(split), number};
      parse_example(line, origin, line_);
      loader_.add(split, line_, origin);
    });
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
  const Dataset& first() const { return first_; }

 private:
  const DataOptions options_;
  const ExistingVocabulary existing_;
  const LoadRequest request_;
  ExampleLoader loader_;
  std::map<Split, std::string> commands_;  // that write the lines
  ExampleLine line_;
  Dataset first_;
};

// Returns the first lines of a text.
std::string first_lines(const std::string& text, int64_t count) {
  size_t end = 0;
  for (; count > 0 && end < text.size(); --count) end = text.find('\n', end) + 1;
  return text.substr(0, end);
}

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
  for (const auto& [split, text] : splits.texts) reader->read(split, text);
  const std::string& train = splits.texts[Split::train];
  for (const Split split : {Split::val, Split::test})
    check_input(!splits.texts[split].starts_with(train) && !train.starts_with(splits.texts[split]),
                "{}: --split {} has the examples of --split train: the program ignores --split",
                program.name, name_of(split_names, split));
  Corpus corpus = reader->load(program.name, std::move(notes));

  for (const auto& [path, digest] : program.files) files.add(path, {digest});
  for (const auto& [split, text] : splits.texts) {
    const std::string lines = split == Split::train ? first_lines(text, first_examples) : text;
    files.add(command, {lines});
    corpus.kept_lines[name_of(split_names, split)] = lines;
  }
  corpus.program_files = program.files;
  if (program.is_kept) return corpus;

  const int64_t at_hand = reader->first().size;
  const auto stream = std::make_shared<ExampleStream>(
      program, seed, std::move(splits.rest), at_hand,
      [reader](const std::string& line, int64_t i, Example& example) {
        reader->read_later(i, line, example);
      });
  Dataset& training = corpus.splits["train"];
  training.size = unlimited;
  training.at_hand = at_hand;
  const auto get = [reader, stream, at_hand](int64_t i, Example& example) {
    i < at_hand ? reader->first().get(i, example) : stream->get(i, example);
  };
  training.get = feature_dataset(corpus.format, unlimited, get).get;
  corpus.seconds_waited = [stream] { return stream->seconds_waited(); };
  corpus.notes.push_back(fmt::format("train: unlimited examples of {}", program.name));
  return corpus;
}

}  // namespace heed
