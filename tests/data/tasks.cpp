// Tasks from sequences to sequences: worked examples, layout, disjoint splits.
#include <set>

#include "data/file_splits.h"
#include "data/framing.h"
#include "data/generated.h"
#include "data/tasks/task.h"
#include "support.h"

namespace heed {

using Ints = std::vector<int32_t>;

static SequencePair solved(const SequenceTask& task, Ints source) {
  SequencePair pair{std::move(source), {}};
  REQUIRE(task.solve(pair));
  return pair;
}

static SequenceTask sequence_task(const DataOptions& options, Lengths lengths = {1, 25}) {
  return options.kind->sequence_task(options, lengths);
}

static DataOptions task_options(const DataKind* kind, std::vector<int64_t> lengths = {1, 25}) {
  DataOptions options;
  options.kind = kind;
  options.lengths = std::move(lengths);
  return options;
}

TEST_CASE("copy: the worked examples") {
  const SequenceTask task = sequence_task(task_options(&data_kinds::copy));
  CHECK(solved(task, {7, 0, 49}).target == Ints{7, 0, 49});
  CHECK(solved(task, {12}).target == Ints{12});
}

TEST_CASE("reverse: the worked examples") {
  const SequenceTask task = sequence_task(task_options(&data_kinds::reverse));
  CHECK(solved(task, {7, 0, 49}).target == Ints{49, 0, 7});
  CHECK(solved(task, {12, 12, 3, 4}).target == Ints{4, 3, 12, 12});
}

// The numbers are those of tests/fixtures/make_random.py.
TEST_CASE("the examples that a seed gives are fixed") {
  std::vector<int> values = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  Random random(1, Purpose::task);
  shuffle(random, values);
  CHECK(values == std::vector<int>{6, 4, 8, 2, 1, 7, 5, 0, 3, 9});

  const Corpus corpus = load_corpus(task_options(&data_kinds::reverse), ModelKind::seq2seq, 1);
  const auto check_source = [&](const char* name, int64_t i, const Ints& source) {
    CAPTURE(name);
    CAPTURE(i);
    CHECK(example_of(split(corpus, name), i).source == source);
  };
  check_source("train", 0, {17, 9, 22, 5, 1, 28, 7, 7, 36, 18, 27, 42});
  check_source("train", 1, {1, 2, 17, 38, 37, 48, 42, 14, 23, 35, 27, 2, 35, 22, 6, 1, 6, 33, 19});
  check_source("train", int64_t{1} << 32, {41, 41, 25, 3, 33, 17, 20, 39, 34, 17, 30, 11, 41,
                                           46, 41, 21, 2, 22, 6,  43, 28, 43, 43, 24, 6});
  check_source("val", 0, {30, 22, 1, 16, 0, 4, 2, 24, 10, 47});
  check_source("val", 1, {48, 30, 21, 44, 37, 35});
  check_source("test", 1,
               {35, 35, 4, 15, 3, 16, 47, 4, 40, 19, 23, 4, 42, 31, 28, 29, 0, 5, 49, 32, 6, 35});
}

TEST_CASE("an example that was laid out for one model is laid out for another") {
  const Vocabulary vocabulary({"a", "b", "<bos>", "<sep>", "<eos>"});
  const Ints x = {0, 1}, y = {1};
  Example example;
  Layout(ModelKind::language_model, vocabulary).lay_out(x, y, example);
  CHECK(example.prompt == 4);  // <bos> a b <sep>
  Layout(ModelKind::seq2seq, vocabulary).lay_out(x, y, example);
  CHECK(example.prompt == 0);
}

TEST_CASE("without special tokens a language model reads all but the last token") {
  const Layout layout(ModelKind::language_model, Vocabulary({"a", "b", "c"}));
  Example example;
  layout.lay_out(Ints{0, 1}, Ints{2, 0}, example);
  CHECK(example.input == Ints{0, 1, 2});
  CHECK(example.target == Ints{-1, 2, 0});
  CHECK(example.prompt == 2);
  layout.lay_out(Ints{}, Ints{2, 0}, example);
  CHECK(example.input == Ints{2});
  CHECK(example.target == Ints{0});
  CHECK(example.prompt == 0);
  layout.lay_out(Ints{}, Ints{}, example);
  CHECK(example.input.empty());
  CHECK(example.target.empty());
}

TEST_CASE("a task is listed up to 2^20 sources") {
  CHECK(is_listed(reverse_task(4, {10, 10})));
  CHECK_FALSE(is_listed(reverse_task(4, {9, 10})));
}

TEST_CASE("a task without a config gives the examples of one with it") {
  for (const int64_t symbols : {3, 50}) {  // 363 sources, which are listed, and too many for a list
    const Lengths lengths{1, symbols == 3 ? 5 : 25};
    DataOptions options = task_options(&data_kinds::reverse, {lengths.least, lengths.most});
    options.symbols = symbols;
    const Corpus corpus = load_corpus(options, ModelKind::seq2seq, 7);
    const SequenceTask task = reverse_task(symbols, lengths);
    CHECK(is_listed(task) == (symbols == 3));
    const Vocabulary vocabulary = task_vocabulary(task.tokens, ModelKind::seq2seq, false);
    CHECK(vocabulary.tokens() == corpus.target->vocabulary().tokens());
    for (const auto& [name, split_of] : split_names) {
      const Dataset dataset =
          generated(task, Layout(ModelKind::seq2seq, vocabulary), {7, {0.1, 0.1}, split_of});
      REQUIRE(dataset.size == split(corpus, name).size);
      for (int64_t i = 0; i < std::min<int64_t>(dataset.size, 20); ++i) {
        const Example example = example_of(dataset, i), other = example_of(split(corpus, name), i);
        CHECK(example.source == other.source);
        CHECK(example.input == other.input);
        CHECK(example.target == other.target);
      }
    }
  }
}

TEST_CASE("sort: the worked examples, and minGPT's layout") {
  DataOptions options = task_options(&data_kinds::sort, {6, 6});
  options.symbols = 3;
  const SequenceTask task = sequence_task(options, {6, 6});
  CHECK(solved(task, {0, 0, 2, 1, 0, 1}).target == Ints{0, 0, 0, 1, 1, 2});
  CHECK(solved(task, {2, 1, 0, 2, 1, 0}).target == Ints{0, 0, 1, 1, 2, 2});

  const Corpus corpus = load_corpus(options, ModelKind::language_model, 1);
  CHECK(corpus.source == corpus.target);
  CHECK(corpus.source->vocabulary().size() == 3);
  CHECK(corpus.longest_input == 11);
  bool found = false;
  for (const char* name : {"train", "val", "test"})
    for (int64_t i = 0; i < split(corpus, name).size; ++i) {
      const Example example = example_of(split(corpus, name), i);
      CHECK(example.prompt == 6);
      if (Ints(example.input.begin(), example.input.begin() + 6) != Ints{0, 0, 2, 1, 0, 1})
        continue;
      found = true;
      CHECK(example.input == Ints{0, 0, 2, 1, 0, 1, 0, 0, 0, 1, 1});
      CHECK(example.target == Ints{-1, -1, -1, -1, -1, 0, 0, 0, 1, 1, 2});
    }
  CHECK(found);
}

TEST_CASE("addition: the worked examples, and minGPT's layout") {
  DataOptions options = task_options(&data_kinds::addition);
  const SequenceTask task = sequence_task(options);
  CHECK(solved(task, {8, 5, 5, 0}).target == Ints{5, 3, 1});
  CHECK(solved(task, {0, 6, 3, 9}).target == Ints{5, 4, 0});
  CHECK(solved(task, {9, 9, 9, 9}).target == Ints{8, 9, 1});

  const Corpus corpus = load_corpus(options, ModelKind::language_model, 1);
  CHECK(corpus.source->vocabulary().size() == 10);
  CHECK(corpus.longest_input == 6);
  const Example example = example_of(split(corpus, "train"), 0);
  REQUIRE(example.input.size() == 6);
  CHECK(Ints(example.target.begin(), example.target.begin() + 3) == Ints{-1, -1, -1});
  const Ints& x = example.input;
  const int32_t sum = 10 * (x[0] + x[2]) + x[1] + x[3];
  CHECK(x[4] == sum % 10);
  CHECK(example.target[3] == sum % 10);
  CHECK(example.target[4] == sum / 10 % 10);
  CHECK(example.target[5] == sum / 100);
  CHECK(corpus.source->encode("8550") == Ints{8, 5, 5, 0});
}

TEST_CASE("modular: the worked examples, for every operation") {
  DataOptions options = task_options(&data_kinds::modular);
  CHECK(solved(sequence_task(options), {55, 60}).source == Ints{55, 97, 60, 98});
  CHECK(solved(sequence_task(options), {55, 60}).target == Ints{18});
  options.operation = Operation::subtract;
  CHECK(solved(sequence_task(options), {3, 5}).target == Ints{95});
  options.operation = Operation::multiply;
  CHECK(solved(sequence_task(options), {96, 96}).target == Ints{1});
  options.operation = Operation::divide;
  const SequenceTask divide = sequence_task(options);
  CHECK(solved(divide, {1, 2}).target == Ints{49});
  CHECK(divide.tokens[97] == "/");
  SequencePair by_zero{{1, 0}, {}};
  CHECK_FALSE(divide.solve(by_zero));
  for (int32_t a = 0; a < 97; ++a)
    for (int32_t b = 1; b < 97; ++b) CHECK(solved(divide, {a, b}).target[0] * b % 97 == a);
}

TEST_CASE("parity: the worked examples") {
  const SequenceTask task = sequence_task(task_options(&data_kinds::parity));
  CHECK(solved(task, {0, 1, 1, 0}).target == Ints{0});
  CHECK(solved(task, {1, 0, 1, 0, 1}).target == Ints{1});
}

TEST_CASE("the layouts of a task: seq2seq, language model of any length, classifier") {
  DataOptions options = task_options(&data_kinds::reverse, {1, 3});
  options.symbols = 4;
  const Corpus pairs = load_corpus(options, ModelKind::seq2seq, 1);
  const int32_t begin = 4, end = 5;
  CHECK(pairs.target->vocabulary().tokens() ==
        std::vector<std::string>{"0", "1", "2", "3", "<bos>", "<eos>"});
  CHECK(pairs.longest_source == 3);
  CHECK(pairs.longest_input == 4);
  for (int64_t i = 0; i < split(pairs, "train").size; ++i) {
    const Example example = example_of(split(pairs, "train"), i);
    const Ints target(example.source.rbegin(), example.source.rend());
    CHECK(example.prompt == 0);
    CHECK(example.input.front() == begin);
    CHECK(Ints(example.input.begin() + 1, example.input.end()) == target);
    CHECK(example.target.back() == end);
    CHECK(Ints(example.target.begin(), example.target.end() - 1) == target);
  }

  const Corpus model = load_corpus(options, ModelKind::language_model, 1);
  CHECK(model.target->vocabulary().tokens() ==
        std::vector<std::string>{"0", "1", "2", "3", "<sep>", "<eos>"});
  CHECK(model.longest_input == 7);
  for (int64_t i = 0; i < split(model, "train").size; ++i) {
    const Example example = example_of(split(model, "train"), i);
    const auto length = static_cast<size_t>(example.prompt) - 1;
    REQUIRE(example.input.size() == 2 * length + 1);
    CHECK(example.source.empty());
    CHECK(example.input[length] == 4);
    CHECK(example.target.back() == end);
    for (size_t t = 0; t < length; ++t) {
      CHECK(example.target[t] == -1);
      CHECK(example.target[length + t] == example.input[length - 1 - t]);
      CHECK(example.input[length + 1 + t] == example.target[length + t]);
    }
  }

  const Corpus classes =
      load_corpus(task_options(&data_kinds::parity, {2, 6}), ModelKind::classifier, 1);
  CHECK(classes.labels == std::vector<std::string>{"even", "odd"});
  CHECK(classes.source->vocabulary().size() == 2);
  CHECK(classes.longest_input == 6);
  const Example bits = example_of(split(classes, "train"), 3);
  CHECK(bits.target ==
        Ints{static_cast<int32_t>(std::count(bits.input.begin(), bits.input.end(), 1) % 2)});
  const Corpus modular = load_corpus(task_options(&data_kinds::modular), ModelKind::classifier, 1);
  CHECK(modular.labels.size() == 97);
  CHECK(modular.source->vocabulary().size() == 99);
}

TEST_CASE("a small task is enumerated: every example is in exactly one split") {
  struct Row {
    const DataKind* kind;
    ModelKind framing;
    std::vector<int64_t> lengths;
    int64_t examples;
  };
  for (const Row& row : {Row{&data_kinds::sort, ModelKind::language_model, {6, 6}, 729},
                         Row{&data_kinds::copy, ModelKind::seq2seq, {1, 4}, 3 + 9 + 27 + 81},
                         Row{&data_kinds::reverse, ModelKind::seq2seq, {2, 5}, 9 + 27 + 81 + 243},
                         Row{&data_kinds::addition, ModelKind::language_model, {1, 25}, 10000},
                         Row{&data_kinds::modular, ModelKind::classifier, {1, 25}, 97 * 97},
                         Row{&data_kinds::parity, ModelKind::classifier, {3, 10}, 2048 - 8}}) {
    CAPTURE(row.kind->name);
    DataOptions options = task_options(row.kind, row.lengths);
    if (row.kind->uses("symbols")) options.symbols = 3;
    options.test_fraction = 0.25;
    const Corpus corpus = load_corpus(options, row.framing, 7);
    std::set<std::pair<Ints, Ints>> seen;
    int64_t total = 0;
    for (const auto& [name, dataset] : corpus.splits) {
      total += dataset.size;
      for (int64_t i = 0; i < dataset.size; ++i) {
        const Example example = example_of(dataset, i);
        seen.insert({example.source, example.input});
      }
    }
    CHECK(total == row.examples);
    CHECK(static_cast<int64_t>(seen.size()) == row.examples);
    const double fraction =
        static_cast<double>(split(corpus, "test").size) / static_cast<double>(row.examples);
    CHECK(fraction == doctest::Approx(0.25).epsilon(0.25));
  }
}

TEST_CASE("divisions by zero are left out") {
  DataOptions options = task_options(&data_kinds::modular);
  options.modulus = 5;
  options.operation = Operation::divide;
  options.val_fraction = 0.3;
  options.test_fraction = 0;
  const Corpus corpus = load_corpus(options, ModelKind::classifier, 1);
  CHECK(split(corpus, "train").size + split(corpus, "val").size == 20);
  CHECK_FALSE(corpus.splits.contains("test"));
}

// The configuration of the reverse experiment.
TEST_CASE("a large task is drawn: training never shows held-out examples, at any length") {
  DataOptions options = task_options(&data_kinds::reverse);
  options.longer_lengths = {26, 30};
  options.test_size = 1000;
  const Corpus corpus = load_corpus(options, ModelKind::seq2seq, 3);
  CHECK(corpus.longest_source == 30);
  CHECK(corpus.longest_input == 31);
  CHECK(corpus.notes[0] == "train: unlimited examples");
  std::set<Ints> held_out;
  for (const char* name : {"val", "test", "test_longer"}) {
    CHECK(split(corpus, name).size == 1000);
    for (int64_t i = 0; i < 1000; ++i) {
      const Ints source = example_of(split(corpus, name), i).source;
      const bool longer = std::string_view(name) == "test_longer";
      CHECK(source.size() >= (longer ? 26 : 1));
      CHECK(source.size() <= (longer ? 30 : 25));
      held_out.insert(source);
    }
  }
  CHECK(held_out.size() == 3000);
  int of_length_1_or_2 = 0, of_length_25 = 0;
  std::set<Ints> lengths_1_and_2;
  Example example;
  for (int64_t i = 0; i < 50'000; ++i) {
    split(corpus, "train").get(i, example);
    CHECK_FALSE(held_out.contains(example.source));
    of_length_1_or_2 += example.source.size() <= 2;
    of_length_25 += example.source.size() == 25;
    if (example.source.size() <= 2) lengths_1_and_2.insert(example.source);
  }
  CHECK(of_length_1_or_2 == doctest::Approx(4000).epsilon(0.1));  // lengths are equally likely
  CHECK(of_length_25 == doctest::Approx(2000).epsilon(0.1));
  // Four fifths of the 2,550 sequences of length 1 and 2 are for training. 2,000 draws of 2,000
  // sequences of length 2 find a fraction of 1 - 1/e of them.
  CHECK(lengths_1_and_2.size() > 1200);
  CHECK(lengths_1_and_2.size() < 1400);
}

TEST_CASE("the drawn examples depend on the seed, the split of an example does not") {
  DataOptions options = task_options(&data_kinds::reverse);
  const Corpus a = load_corpus(options, ModelKind::seq2seq, 3),
               b = load_corpus(options, ModelKind::seq2seq, 3);
  const Corpus c = load_corpus(options, ModelKind::seq2seq, 4);
  options.seed = 3;
  const Corpus d = load_corpus(options, ModelKind::seq2seq, 4);
  for (const int64_t i : {int64_t{0}, int64_t{999}, int64_t{1} << 35}) {
    const char* const name = i < 1000 ? "val" : "train";
    const Ints source = example_of(split(a, name), i).source;
    CHECK(source == example_of(split(b, name), i).source);
    CHECK(source != example_of(split(c, name), i).source);
    CHECK(source == example_of(split(d, name), i).source);
  }
  CHECK(a.fingerprint == b.fingerprint);
  CHECK(a.fingerprint != c.fingerprint);

  options = task_options(&data_kinds::addition);
  const Corpus e = load_corpus(options, ModelKind::language_model, 1),
               f = load_corpus(options, ModelKind::language_model, 2);
  REQUIRE(split(e, "test").size == split(f, "test").size);
  CHECK(example_of(split(e, "test"), 5).input == example_of(split(f, "test"), 5).input);
}

TEST_CASE("splits have the requested sizes, or an error says how many examples exist") {
  DataOptions options = task_options(&data_kinds::addition);
  options.test_size = 700;
  options.train_size = 5000;
  const Corpus corpus = load_corpus(options, ModelKind::language_model, 1);
  CHECK(split(corpus, "test").size == 700);
  CHECK(split(corpus, "train").size == 5000);
  CHECK(corpus.notes[0] == "train: 5000 examples");
  options.test_size = 5000;
  const std::string message =
      input_error([&] { load_corpus(options, ModelKind::language_model, 1); });
  CHECK_CONTAINS(message, "the split test needs 5000 examples, and only ");
  CHECK_CONTAINS(message, "`test_fraction` = 0.1");

  options = task_options(&data_kinds::copy);
  options.train_size = 123;
  CHECK(split(load_corpus(options, ModelKind::seq2seq, 1), "train").size == 123);
}

TEST_CASE("sources are counted and enumerated without gaps") {
  DataOptions options = task_options(&data_kinds::copy);
  options.symbols = 3;
  const SequenceTask task = sequence_task(options, {2, 3});
  CHECK(task.count(1000) == 36);
  CHECK(task.count(20) == 20);
  CHECK(sequence_task(options, {1, 100'000}).count(1 << 20) == 1 << 20);
  SequencePair pair;
  std::set<Ints> seen;
  for (int64_t i = 0; i < 36; ++i) {
    CHECK(task.list(i, pair));
    seen.insert(pair.source);
  }
  CHECK(seen.size() == 36);
  task.list(0, pair);
  CHECK(pair.source == Ints{0, 0});
  task.list(9, pair);
  CHECK(pair.source == Ints{0, 0, 0});
  task.list(35, pair);
  CHECK(pair.source == Ints{2, 2, 2});
}

}  // namespace heed
