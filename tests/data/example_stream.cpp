// Programs that write examples, here functions of this process: data/program_splits.h and
// data/example_stream.h.
#include "data/example_stream.h"

#include <fmt/core.h>

#include <atomic>

#include "checks.h"
#include "core/check.h"
#include "data/batch.h"
#include "data/program_splits.h"
#include "support.h"

using namespace heed;

namespace example_stream_tests {

namespace {

using Line = std::function<std::string(Split split, uint64_t seed, int64_t i)>;

struct Calls {
  int starts = 0;
  std::vector<std::string> log;
};

class Lines final : public LineSource {
 public:
  explicit Lines(std::function<std::string(int64_t i)> line, int64_t i)
      : line_(std::move(line)), i_(i) {}
  bool next(std::string& line) override {
    line = stopped_ ? "" : line_(i_++);
    return !line.empty();
  }
  void stop() override { stopped_ = true; }
  std::string problem() override { return "the program ended"; }
  std::vector<std::string> take_errors() override {
    return i_ % 100 == 0 ? std::vector{fmt::format("error {}", i_)} : std::vector<std::string>();
  }

 private:
  std::function<std::string(int64_t i)> line_;
  int64_t i_;
  std::atomic<bool> stopped_ = false;
};

// A program whose lines a function returns, "" at its end.
ExampleProgram program_of(const Line& line, Calls& calls) {
  return {.name = "gen",
          .start =
              [line, &calls](Split split, uint64_t seed, int64_t start) {
                ++calls.starts;
                return std::make_unique<Lines>([=](int64_t i) { return line(split, seed, i); },
                                               start);
              },
          .log = [&calls](const std::string& text) { calls.log.push_back(text); }};
}

std::string good(Split split, uint64_t seed, int64_t i) {
  return fmt::format("{} {} {}", static_cast<int>(split), seed, i);
}

void read_number(const std::string& line, int64_t i, Example& example) {
  check_input(line != "bad", "example {} is bad", i);
  example.input.assign(1, std::stoi(line.substr(line.rfind(' ') + 1)));
}

std::string refused(const Line& line) {
  Calls calls;
  DataOptions options;
  options.val_size = options.test_size = 50;
  return thrown<InputError>([&] { read_splits(options, 1, program_of(line, calls), 100); });
}

}  // namespace

TEST_CASE("stream: the first lines of each split") {
  Calls calls;
  DataOptions options;
  options.val_size = 3;
  ExampleProgram program = program_of(good, calls);
  ProgramSplits splits = read_splits(options, 7, program, 100);
  CHECK(splits.lines[Split::val] == std::vector<std::string>{"1 7 0", "1 7 1", "1 7 2"});
  CHECK(splits.lines[Split::test].back() == "2 7 999");
  CHECK(splits.lines[Split::train].back() == "0 7 99");
  CHECK(splits.lines[Split::train].size() == 100);
  CHECK(calls.starts == 6);
  std::string line;
  CHECK(splits.rest->next(line));
  CHECK(line == "0 7 100");

  options.val_size = options.test_size = 2;
  program.kept = [](Split s) { return good(s, 7, 0) + "\n" + good(s, 7, 1) + "\n"; };
  splits = read_splits(options, 7, program, 1000);
  CHECK(splits.lines[Split::train] == std::vector<std::string>{"0 7 0", "0 7 1"});
  CHECK(splits.lines[Split::val].size() == 2);
  CHECK_FALSE(splits.rest);
  CHECK(calls.starts == 6);
}

TEST_CASE("stream: a program that breaks its contract is refused by name") {
  int calls = 0;
  CHECK_CONTAINS(
      refused([&](Split s, uint64_t seed, int64_t) { return good(s, seed, calls++); }),
      "gen: --split val --seed 1 --start 15: example 15 differs from that after --start 0: an "
      "example may depend on nothing but split, seed and its number");
  CHECK_CONTAINS(refused([](Split s, uint64_t seed, int64_t i) {
                   return s == Split::test && i > 30 ? "" : good(s, seed, i);
                 }),
                 "gen: --split test: expected example 31: the program ended");
}

TEST_CASE("stream: a program that ignores --start is named") {
  Calls calls;
  DataOptions options;
  options.val_size = options.test_size = 50;
  ExampleProgram program = program_of(good, calls);
  program.start = [start = program.start](Split split, uint64_t seed, int64_t) {
    return start(split, seed, 0);
  };
  CHECK_CONTAINS(thrown<InputError>([&] { read_splits(options, 1, program, 100); }),
                 "example 15 differs from that after --start 0: the program ignores --start");
}

TEST_CASE("stream: examples come in order, are read ahead, and from any start") {
  Calls calls;
  const ExampleProgram program = program_of(good, calls);
  ExampleStream stream(program, 1, program.start(Split::train, 1, 10), 10, read_number);
  Example example;
  const auto is = [&](int64_t i) {
    stream.get(i, example);
    return example.input == std::vector<int32_t>{static_cast<int32_t>(i)};
  };
  for (int64_t i = 10; i < 10'000; ++i) REQUIRE(is(i));
  CHECK(calls.starts == 1);
  CHECK(calls.log.size() >= 90);
  CHECK(is(50'000));
  CHECK(is(50'001));
  CHECK(is(3));
  CHECK(calls.starts == 3);
}

TEST_CASE("stream: what is before an error comes first, and the error again") {
  Calls calls;
  const ExampleProgram program = program_of(
      [](Split s, uint64_t seed, int64_t i) {
        return i == 5 ? "bad" : i == 9 ? "" : good(s, seed, i);
      },
      calls);
  ExampleStream stream(program, 1, program.start(Split::train, 1, 0), 0, read_number);
  Example example;
  for (int64_t i = 0; i < 5; ++i) stream.get(i, example);
  for (int repeated = 0; repeated < 2; ++repeated)
    CHECK(thrown<InputError>([&] { stream.get(5, example); }) == "example 5 is bad");
  for (int64_t i = 6; i < 9; ++i) stream.get(i, example);
  CHECK(thrown<InputError>([&] { stream.get(9, example); }) ==
        "gen: --split train: expected example 9: the program ended");
}

TEST_CASE("stream: a batch has the next examples, whatever the seed") {
  Calls calls;
  const ExampleProgram program = program_of(good, calls);
  ExampleStream stream(program, 1, program.start(Split::train, 1, 0), 0, read_number);
  const Dataset dataset{.size = 1000,
                        .get = [&](int64_t i, Example& example) { stream.get(i, example); },
                        .at_hand = 1};
  for (const uint64_t seed : {1, 2}) {
    Batches batches = Batches::shuffled(dataset, ModelKind::language_model, 4, seed);
    for (const int64_t i : {0, 1, 2, 7}) {
      const Examples examples = batches.examples(i);
      for (int64_t b = 0; b < 4; ++b)
        CHECK(examples[static_cast<size_t>(b)]->input[0] == 4 * i + b);
    }
  }
}

}  // namespace example_stream_tests
