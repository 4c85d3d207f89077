// The corpus of a program that writes examples, here a function of this process.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <atomic>
#include <chrono>
#include <set>
#include <thread>

#include "checks.h"
#include "core/check.h"
#include "data/corpus.h"
#include "data/example_loader.h"
#include "data/file_splits.h"
#include "support.h"

using namespace heed;

namespace program_corpus_tests {

namespace {

using Line = std::function<std::string(Split split, uint64_t seed, int64_t i)>;

class FunctionLines final : public LineSource {
 public:
  FunctionLines(std::function<std::string(int64_t i)> line, int64_t i)
      : line_(std::move(line)), i_(i) {}
  bool next(std::string& line) override {
    line = line_(i_++);
    return true;
  }
  void stop() override {}
  std::string problem() override { return ""; }
  std::vector<std::string> take_errors() override { return {}; }

 private:
  std::function<std::string(int64_t i)> line_;
  int64_t i_;
};

ExampleProgram program_of(const Line& line) {
  return {.name = "gen",
          .files = {{"/gen.py", "digest"}},
          .start = [line](Split split, uint64_t seed, int64_t start) {
            return std::make_unique<FunctionLines>([=](int64_t i) { return line(split, seed, i); },
                                                   start);
          }};
}

DataOptions command_options() {
  DataOptions options;
  options.kind = &data_kinds::examples;
  options.level = Level::word;
  options.command = {"gen"};
  options.val_size = options.test_size = 20;
  options.vocabulary_examples = 1000;
  return options;
}

Corpus load(const ExampleProgram& program, ModelKind framing = ModelKind::language_model,
            const DataOptions& options = command_options(),
            const ExistingVocabulary& existing = {}) {
  return load_corpus(options, framing, 1, existing, false, &program);
}

// The tokens of example i, "a b | . c".
std::string text_of(const Corpus& corpus, const std::string& split, int64_t i) {
  Example example;
  corpus.splits.at(split).get(i, example);
  std::string text;
  for (const int32_t id : example.source) text += corpus.source->vocabulary().token(id) + " ";
  for (const int32_t id : example.input) text += corpus.target->vocabulary().token(id) + " ";
  text += "|";
  for (const int32_t id : example.target)
    text += " " + (id < 0 ? "." : corpus.target->vocabulary().token(id));
  return text;
}

// n0 … n99, so that training repeats the inputs of validation: n(i mod 100).
std::string repeating(Split split, uint64_t, int64_t i) {
  return fmt::format(R"({{"input": "n{} x", "target": ". {}"}})", i % 100,
                     split == Split::val    ? "val"
                     : split == Split::test ? "test"
                                            : fmt::format("t{}", i % 7));
}

}  // namespace

TEST_CASE("program: its vocabulary is that of all splits, sorted, without <unk>") {
  const Corpus corpus = load(program_of(repeating));
  const std::vector<std::string>& tokens = corpus.target->vocabulary().tokens();
  CHECK(std::is_sorted(tokens.begin(), tokens.end()));
  CHECK(tokens.size() == 100 + 1 + 7 + 2);
  CHECK(corpus.splits.at("val").size == 20);
  CHECK(corpus.splits.at("train").size == int64_t{1} << 40);
  CHECK(text_of(corpus, "val", 3) == "n3 x | . val");
  CHECK(corpus.files == std::vector<std::string>{"/gen.py", "gen --seed 1 --start 0",
                                                 "gen --seed 1 --start 0",
                                                 "gen --seed 1 --start 0"});
  // A model of it reads no other token, also in files of a kind that adds <unk> to a vocabulary.
  DataOptions pairs = command_options();
  pairs.kind = &data_kinds::pairs;
  ExampleLoader loader(pairs, corpus, /*with_targets=*/false);
  ExampleLine line;
  line.input_key = "input";
  line.input.set_text("n3 y");
  Example example;
  CHECK(thrown<InputError>([&] { loader.read(line, {}, example); }) ==
        "the word \"y\" is not in the vocabulary of 110 tokens");
}

TEST_CASE("program: training leaves out the inputs of held-out examples, each by its number") {
  const Corpus corpus = load(program_of(repeating));
  std::vector<std::string> in_order;
  std::set<std::string> inputs;
  for (int64_t i = 0; i < 3000; ++i) {
    in_order.push_back(text_of(corpus, "train", i));
    inputs.insert(in_order.back().substr(0, in_order.back().find(' ')));
    if (i % 100 >= 20) CHECK(in_order.back() == fmt::format("n{} x | . t{}", i % 100, i % 7));
  }
  for (int n = 0; n < 100; ++n) CHECK(inputs.contains(fmt::format("n{}", n)) == (n >= 20));
  // Also after another start, and if fewer examples were read at first.
  DataOptions options = command_options();
  ExistingVocabulary existing;
  existing.source = existing.target = corpus.target;
  options.vocabulary_examples = 2000;
  for (const Corpus& other :
       {load(program_of(repeating), ModelKind::language_model, options),
        load(program_of(repeating), ModelKind::language_model, command_options(), existing)})
    for (const int64_t i : {2517, 2518, 1003, 1500, 3, 2999})
      CHECK(text_of(other, "train", i) == in_order[static_cast<size_t>(i)]);
}

TEST_CASE("program: one that has nothing more to write yet is stopped where another part is read") {
  static std::atomic<bool> waits = false, waited_to_the_end = false;
  class Pausing final : public LineSource {
   public:
    Pausing(Split split, int64_t start) : split_(split), start_(start), i_(start) {}
    bool next(std::string& line) override {
      std::this_thread::sleep_for(std::chrono::milliseconds(i_ == start_ ? 20 : 0));
      for (int wait = 0; i_ >= 1200 && !stopped_; ++wait) {
        waits = true;
        if (wait == 1000) return waited_to_the_end = true, false;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
      line = repeating(split_, 1, i_++);
      return !stopped_;
    }
    void stop() override { stopped_ = true; }
    std::string problem() override { return ""; }
    std::vector<std::string> take_errors() override { return {}; }

   private:
    const Split split_;
    const int64_t start_;
    int64_t i_;
    std::atomic<bool> stopped_ = false;
  };
  ExampleProgram program = program_of(repeating);
  program.start = [](Split split, uint64_t, int64_t start) {
    return std::make_unique<Pausing>(split, start);
  };
  const Corpus corpus = load(program);
  for (const int64_t i : {1150, 1160}) text_of(corpus, "train", i);
  for (int wait = 0; wait < 1000 && !waits; ++wait)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  REQUIRE(waits);
  text_of(corpus, "train", 1150);
  CHECK_FALSE(waited_to_the_end);
  CHECK(corpus.seconds_waited() > 0.02);  // three times for its first line
}

TEST_CASE("program: a token that comes later is an error with its example") {
  const auto line = [](Split, uint64_t, int64_t i) {
    return fmt::format(R"({{"input": "n{} x", "target": ". {}"}})", i, i < 1500 ? "y" : "z");
  };
  const Line named = [line](Split split, uint64_t seed, int64_t i) {
    return line(split, seed, static_cast<int64_t>(split) * 100 + i % 5);
  };
  const Line later = [named](Split split, uint64_t seed, int64_t i) {
    return i == 1200 ? std::string(R"({"input": "n1 z", "target": ". y"})") : named(split, seed, i);
  };
  const Corpus corpus = load(program_of(later));
  text_of(corpus, "train", 1199);
  CHECK(
      thrown<InputError>([&] { text_of(corpus, "train", 1200); }) ==
      "gen --seed 1 --start 0 --split train: line 1201: the token \"z\" is not in the vocabulary, "
      "which is that of the first examples: raise `vocabulary_examples`, or name a vocabulary that "
      "has it with `vocabulary`");
}

TEST_CASE("program: pairs and labels") {
  const Line pairs = [](Split split, uint64_t, int64_t i) {
    return fmt::format(R"({{"source": "s{} a", "target": "b{} c"}})",
                       i % 30 + 30 * static_cast<int>(split), i % 3);
  };
  const Corpus seq2seq = load(program_of(pairs), ModelKind::seq2seq);
  CHECK(text_of(seq2seq, "train", 5000) == "s20 a <bos> b2 c | b2 c <eos>");
  const Corpus model = load(program_of(pairs));
  CHECK(text_of(model, "train", 5000) == "s20 a b2 | . b2 c");
  const Line longer = [pairs](Split split, uint64_t seed, int64_t i) {  // after all that are read
    return i == 5000 ? std::string(R"({"source": "s1 s2 a", "target": "c"})")
                     : pairs(split, seed, i);
  };
  const Corpus others = load(program_of(longer));
  CHECK(text_of(others, "train", 4999) == "s19 a b1 | . b1 c");
  CHECK(text_of(others, "train", 5000) == "s1 s2 a | . . c");

  const Line labelled = [](Split split, uint64_t, int64_t i) {
    return fmt::format(R"({{"input": "s{} a", "target": "label {}", "group": "g"}})",
                       i % 30 + 30 * static_cast<int>(split), i % 3);
  };
  const Corpus classifier = load(program_of(labelled), ModelKind::classifier);
  CHECK(classifier.labels == std::vector<std::string>{"label 0", "label 1", "label 2"});
  Example example;
  classifier.splits.at("train").get(5000, example);
  CHECK(example.target == std::vector<int32_t>{2});
  CHECK(example.group == 0);
}

TEST_CASE("program: what a run has kept has the same fingerprint, and is no stream") {
  const Corpus corpus = load(program_of(repeating));
  CHECK(corpus.kept_lines.at("train").size() > corpus.kept_lines.at("val").size());
  ExampleProgram kept = program_of(repeating);
  kept.kept = [&](Split split) { return corpus.kept_lines.at(name_of(split_names, split)); };
  ExistingVocabulary existing;
  existing.source = existing.target = corpus.target;
  const Corpus again = load(kept, ModelKind::language_model, command_options(), existing);
  CHECK(again.fingerprint == corpus.fingerprint);
  CHECK(again.splits.at("train").size == 1000);
  CHECK(again.splits.at("train").at_hand == 0);
  CHECK(text_of(again, "train", 17) == text_of(corpus, "train", 17));
}

TEST_CASE("program: examples that are read again and again stay in memory") {
  int starts = 0;
  ExampleProgram program = program_of(repeating);
  program.start = [&starts, start = program.start](Split split, uint64_t seed, int64_t i) {
    starts += split == Split::train;
    return start(split, seed, i);
  };
  const Corpus without = load(program);
  std::vector<std::string> texts;
  for (int64_t i = 0; i < 1600; ++i) texts.push_back(text_of(without, "train", i));
  program.at_hand = 1500;
  starts = 0;
  const Corpus corpus = load(program);
  CHECK(corpus.splits.at("train").at_hand == 1500);
  for (int64_t step = 0; step < 3; ++step)
    for (int64_t i = 0; i < 1500; ++i)
      REQUIRE(text_of(corpus, "train", i) == texts[static_cast<size_t>(i)]);
  for (int64_t i = 1500; i < 1600; ++i)
    REQUIRE(text_of(corpus, "train", i) == texts[static_cast<size_t>(i)]);
  CHECK(starts == 2);  // once more to compare
  CHECK(corpus.fingerprint == without.fingerprint);
}

}  // namespace program_corpus_tests
