// Files with one example per line: lines, pairs, labelled lines.
#include <set>

#include "support.h"

namespace heed {

using Ints = std::vector<int32_t>;
using Words = std::vector<std::string>;

// `count` lines, a tenth of them repeated.
static std::string names(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += fmt::format("name{}\n", i % (count - count / 10));
  return text;
}

static std::string load_error(const DataOptions& options) {
  const std::string message = input_error([&] { load(options); });
  CHECK(message.find('\n') == std::string::npos);
  return message;
}

TEST_CASE("lines: <bos> line <eos>, none is lost, duplicates are in one split") {
  const TemporaryFolder folder;
  DataOptions options = file_options(&data_kinds::lines, folder.write("names", names(1000)));
  const Corpus corpus = load(options);
  const Vocabulary& vocabulary = corpus.source->vocabulary();
  CHECK(vocabulary.size() == 14 + 2);  // aemn0…9
  CHECK(corpus.source == corpus.target);
  CHECK(corpus.longest_input == 8);
  std::map<std::string, std::set<std::string>> where;
  int64_t total = 0;
  for (const auto& [name, dataset] : corpus.splits) {
    total += dataset.size;
    for (int64_t i = 0; i < dataset.size; ++i) {
      const Example example = example_of(dataset, i);
      CHECK(example.input.front() == vocabulary.begin());
      CHECK(example.target.back() == vocabulary.end());
      CHECK(example.prompt == 0);
      CHECK(Ints(example.input.begin() + 1, example.input.end()) ==
            Ints(example.target.begin(), example.target.end() - 1));
      where[corpus.source->decode(example.input)].insert(name);
    }
  }
  CHECK(total == 1000);
  CHECK(where.size() == 900);
  for (const auto& [line, splits] : where) CHECK(splits.size() == 1);
  CHECK(split(corpus, "val").size == doctest::Approx(100).epsilon(0.4));
  CHECK(split(corpus, "test").size == doctest::Approx(100).epsilon(0.4));
}

TEST_CASE("lines: line ends, blank lines, byte order mark, alphabet, maximum length") {
  const TemporaryFolder folder;
  DataOptions options =
      file_options(&data_kinds::lines, folder.write("lines",
                                                    "\xEF\xBB\xBF"
                                                    "ab\r\n\r\n\nAb\nabcabc\nb\xC3\xA9\nba"));
  options.val_fraction = options.test_fraction = 0;
  const auto lines = [&] {
    const Corpus corpus = load(options);
    Words found;
    for (int64_t i = 0; i < split(corpus, "train").size; ++i)
      found.push_back(corpus.source->decode(example_of(split(corpus, "train"), i).input));
    return found;
  };
  CHECK(lines() == Words{"ab", "Ab", "abcabc", "bé", "ba"});
  options.alphabet = "abc";
  CHECK(lines() == Words{"ab", "abcabc", "ba"});
  CHECK(load(options).notes[0] == "2 lines skipped for a character outside `alphabet`");
  options.max_length = 2;
  CHECK(lines() == Words{"ab", "ba"});
  CHECK_CONTAINS(load(options).notes[1], "dropped 1 longer than `max_length` = 2");
  options.max_length = 1;
  CHECK_CONTAINS(load_error(options), "no example is left");
}

TEST_CASE("rows without a complete example, and the reason why none is left") {
  const TemporaryFolder folder;
  const auto error = [&](const DataKind* kind, const std::string& text, Level level) {
    DataOptions options = file_options(kind, folder.write("rows", text));
    options.val_fraction = options.test_fraction = 0;
    options.level = level;
    return load_error(options);
  };
  const auto dropped = [](int count) {
    return fmt::format(
        "/rows: no example is left. train: 0 examples, dropped {} with an empty side", count);
  };
  for (const Level level : {Level::character, Level::byte, Level::word}) {
    CHECK_CONTAINS(error(&data_kinds::pairs, "a\t\nb\t\n", level), dropped(2));
    CHECK_CONTAINS(error(&data_kinds::pairs, "a\t\n\tb\n", level), dropped(2));
    CHECK_CONTAINS(error(&data_kinds::labelled, "\ta\n\tb\n", level), dropped(2));
  }
  CHECK_CONTAINS(error(&data_kinds::lines, "  \n \n", Level::word), dropped(2));
  CHECK_CONTAINS(error(&data_kinds::pairs, " \tx\n", Level::word), dropped(1));
  DataOptions options = file_options(&data_kinds::lines, folder.write("rows", "a\nb\n"));
  options.alphabet = "x";
  CHECK_CONTAINS(load_error(options), "/rows: each line has a character outside `alphabet`");
}

TEST_CASE("labelled: swapped columns and few inputs are named, whatever is repeated") {
  const TemporaryFolder folder;
  const auto error = [&](int texts) {
    std::string rows;
    for (int i = 0; i < 600; ++i)
      rows += fmt::format("{}\ttext {}\n", i % 7 < 3 ? "ham" : "spam", i % texts);
    return load_error(file_options(&data_kinds::labelled, folder.write("rows", rows)));
  };
  for (const int texts : {600, 300, 200, 20, 3})
    CHECK_CONTAINS(
        error(texts),
        fmt::format("seem to be swapped: expected the text before the tab and the label after it, "
                    "found {} different labels and 2 different texts in 600 lines; if that is "
                    "wrong, set `label_column` = \"first\"",
                    texts));
  CHECK_CONTAINS(error(2), "of 600 lines, which have 2 different inputs, ");
}

TEST_CASE("lines: the alphabet holds characters, not their bytes") {
  const TemporaryFolder folder;
  DataOptions options =
      file_options(&data_kinds::lines, folder.write("lines", "b\u00E9\nb\u00E8\n"));
  options.val_fraction = options.test_fraction = 0;
  options.alphabet = "b\u00E9\u00A8";  // C3 A9 C2 A8: they contain the bytes of è, C3 A8
  CHECK(split(load(options), "train").size == 1);
}

TEST_CASE("lines: files for validation and test, and notes on lines shared with training") {
  const TemporaryFolder folder;
  DataOptions options = file_options(&data_kinds::lines, folder.write("train", "a\nb\nc\n"));
  options.val_path = folder.write("val", "a\nd\n");
  options.test_path = folder.write("test", "b\nb\nb\n");
  const Corpus corpus = load(options);
  CHECK(split(corpus, "train").size == 3);
  CHECK(split(corpus, "val").size == 2);
  CHECK(split(corpus, "test").size == 3);
  CHECK(corpus.files == Words{options.path, options.val_path, options.test_path});
  CHECK(corpus.source->vocabulary().tokens() == Words{"a", "b", "c", "<bos>", "<eos>", "<unk>"});
  CHECK(corpus.notes[0] == "val: 1 of 2 lines are also in the training data");
  CHECK(corpus.notes[1] == "test: 3 of 3 lines are also in the training data");
}

TEST_CASE("the fingerprint of the files depends on their content alone") {
  const TemporaryFolder folder;
  DataOptions options = file_options(&data_kinds::lines, folder.write("a", names(1000)));
  options.test_path = folder.write("test", names(7));
  const auto fingerprint = [&] { return load(options).fingerprint; };
  const auto of_files = [&] { return files_fingerprint(fingerprint(), options); };
  const std::string all = fingerprint(), files = of_files();
  CHECK(files.size() == 16);
  options.bucketing = 3;
  CHECK(fingerprint() != all);
  CHECK(of_files() == files);
  options.path = folder.write("b", names(1000));
  CHECK(of_files() == files);
  folder.write("test", names(8));
  CHECK(of_files() != files);
  options.kind = &data_kinds::reverse;
  CHECK(files_fingerprint(all, options) == "");
  for (const char* bad : {"", "12", "0123456789abcdeg", "0123456789abcdef0", "-123456789abcdef"})
    CHECK_CONTAINS(input_error([&] { files_fingerprint(bad, options); }), "16 hexadecimal digits");
}

TEST_CASE("lines: files for validation and test leave the other splits where they are") {
  const TemporaryFolder folder;
  DataOptions options = file_options(&data_kinds::lines, folder.write("lines", names(1000)));
  const auto lines_of = [&](const char* name) {
    const Corpus corpus = load(options);
    std::set<std::string> lines;
    for (int64_t i = 0; i < split(corpus, name).size; ++i)
      lines.insert(corpus.source->decode(example_of(split(corpus, name), i).input));
    return lines;
  };
  const std::set<std::string> train = lines_of("train"), val = lines_of("val"),
                              test = lines_of("test");
  const auto joined = [](std::set<std::string> some, const std::set<std::string>& more) {
    some.insert(more.begin(), more.end());
    return some;
  };
  const std::string own = folder.write("own", "name1\nname2\n");
  options.test_path = own;
  CHECK(lines_of("val") == val);
  CHECK(lines_of("train") == joined(train, test));
  options.val_path = own;
  CHECK(lines_of("train") == joined(joined(train, test), val));
  options.test_path.clear();
  CHECK(lines_of("test") == test);
  CHECK(lines_of("train") == joined(train, val));
}

TEST_CASE("lines: too few lines to hold any out are rejected") {
  const TemporaryFolder folder;
  CHECK_CONTAINS(load_error(file_options(&data_kinds::lines, folder.write("two", "a\nb\n"))),
                 "falls into the split");
  CHECK_CONTAINS(load_error(file_options(&data_kinds::lines, folder.write("blank", "\n\r\n\n"))),
                 "there is no line to train on");
}

TEST_CASE("pairs: one file of two columns, words, separate or shared vocabularies") {
  const TemporaryFolder folder;
  DataOptions options =
      file_options(&data_kinds::pairs,
                   folder.write("pairs.tsv", "ein Hund\ta dog\nein Haus\ta house\n\nHund\tdog\n"));
  options.level = Level::word;
  options.val_path = folder.write("val.tsv", "ein Baum\ta tree\r\n");
  options.test_fraction = 0;
  const Corpus corpus = load(options);
  CHECK(corpus.source->vocabulary().tokens() == Words{"Haus", "Hund", "ein", "<unk>"});
  CHECK(corpus.target->vocabulary().tokens() ==
        Words{"a", "dog", "house", "<bos>", "<eos>", "<unk>"});
  const Example first = example_of(split(corpus, "train"), 0);
  CHECK(first.source == Ints{2, 1});
  CHECK(first.input == Ints{3, 0, 1});
  CHECK(first.target == Ints{0, 1, 4});
  const Example val = example_of(split(corpus, "val"), 0);
  CHECK(val.source == Ints{2, 3});
  CHECK(val.target == Ints{0, 5, 4});
  CHECK(corpus.longest_source == 2);
  CHECK(corpus.longest_input == 3);

  options.share_vocabulary = true;
  const Corpus shared = load(options);
  CHECK(shared.source == shared.target);
  CHECK(shared.source->vocabulary().tokens() ==
        Words{"Haus", "Hund", "a", "dog", "ein", "house", "<bos>", "<eos>", "<unk>"});
  options.min_count = 2;
  CHECK(load(options).source->vocabulary().tokens() ==
        Words{"Hund", "a", "dog", "ein", "<bos>", "<eos>", "<unk>"});
  options.max_vocabulary = 1;
  CHECK(load(options).source->vocabulary().size() == 4);
}

TEST_CASE("pairs: two parallel files, characters; pairs with an empty side are dropped") {
  const TemporaryFolder folder;
  DataOptions options = file_options(&data_kinds::pairs, folder.write("de", "ab\n\nba\nb\n"));
  options.target_path = folder.write("en", "x\ny\n\nyx");
  options.val_fraction = options.test_fraction = 0;
  const Corpus corpus = load(options);
  CHECK(split(corpus, "train").size == 2);
  CHECK_CONTAINS(corpus.notes[0], "dropped 2 with an empty side");
  CHECK(example_of(split(corpus, "train"), 1).source == Ints{1});
  CHECK(corpus.target->decode(example_of(split(corpus, "train"), 1).target) == "yx");

  folder.write("en", "x\ny\n");
  const std::string message = load_error(options);
  CHECK_CONTAINS(message, "de has 4 lines and ");
  CHECK_CONTAINS(message, "en has 2: line 3 of the longer file has no partner");
}

TEST_CASE("pairs: the same source is never in two splits") {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 600; ++i) text += fmt::format("s{}\tt{}\n", i % 300, i);
  const Corpus corpus = load(file_options(&data_kinds::pairs, folder.write("pairs", text)));
  std::map<Ints, std::set<std::string>> where;
  for (const auto& [name, dataset] : corpus.splits)
    for (int64_t i = 0; i < dataset.size; ++i) where[example_of(dataset, i).source].insert(name);
  CHECK(where.size() == 300);
  for (const auto& [source, splits] : where) CHECK(splits.size() == 1);
}

TEST_CASE("the error for a wrong number of columns names the line") {
  const TemporaryFolder folder;
  CHECK_CONTAINS(
      load_error(file_options(&data_kinds::pairs, folder.write("a.tsv", "a\tb\nonly one\n"))),
      "a.tsv: line 2 has 1 column, expected two");
  CHECK_CONTAINS(
      load_error(file_options(&data_kinds::pairs, folder.write("b.tsv", "a\tb\n\na\tb\tc\td\n"))),
      "b.tsv: line 3 has 4 columns, expected two");
  CHECK_CONTAINS(load_error(file_options(&data_kinds::labelled, folder.write("c.tsv", "good\n"))),
                 "c.tsv: line 1 has 1 column");
}

TEST_CASE("labelled lines: sorted labels, text as input, one label as target") {
  const TemporaryFolder folder;
  DataOptions options = file_options(
      &data_kinds::labelled, folder.write("train", "buy\tspam\nhello you\tham\nnow\tspam\n"));
  options.level = Level::word;
  options.val_path = folder.write("val", "you now\tham\n");
  options.test_fraction = 0;
  const Corpus corpus = load(options);
  CHECK(corpus.labels == Words{"ham", "spam"});
  CHECK(corpus.source->vocabulary().tokens() == Words{"buy", "hello", "now", "you", "<unk>"});
  CHECK(corpus.source == corpus.target);
  CHECK(example_of(split(corpus, "train"), 1).input == Ints{1, 3});
  CHECK(example_of(split(corpus, "train"), 1).target == Ints{0});
  CHECK(example_of(split(corpus, "train"), 2).target == Ints{1});
  CHECK(example_of(split(corpus, "val"), 0).input == Ints{3, 2});

  folder.write("val", "you\tham\nyou\teggs\n");
  CHECK_CONTAINS(load_error(options), "val: line 2: the label \"eggs\" does not occur in training");
  folder.write("val", "you\t\n");
  CHECK_CONTAINS(load_error(options), "val: line 1 has no label after the tab");
  folder.write("val", "you\tham\n");
  folder.write("train", "a\tham\nb\tham\n");
  CHECK_CONTAINS(load_error(options), "all training lines have the label \"ham\"");
}

TEST_CASE("labelled lines: swapped columns are recognised") {
  const TemporaryFolder folder;
  std::string right, swapped, unsure;
  for (int i = 0; i < 40; ++i) {
    right += fmt::format("{}\ttext {}\n", i % 2 ? "odd" : "even", i);
    swapped += fmt::format("text {}\t{}\n", i, i % 2 ? "odd" : "even");
    unsure += fmt::format("label {}\ttext {}\n", i % 8, i % 4);
  }
  LabelColumn column = LabelColumn::first;
  const auto options = [&](const char* name, const std::string& text) {
    DataOptions all = file_options(&data_kinds::labelled, folder.write(name, text));
    all.val_fraction = all.test_fraction = 0;
    all.label_column = column;
    return all;
  };
  CHECK(load(options("right", right)).labels == Words{"even", "odd"});
  CHECK(load(options("unsure", unsure)).labels.size() == 8);
  CHECK_CONTAINS(load_error(options("swapped", swapped)),
                 "swapped: the columns seem to be swapped: expected the label before the tab and "
                 "the text after it, found 40 different labels and 2 different texts in 40 lines; "
                 "if that is wrong, set `label_column` = \"last\"");
  const Corpus first = load(options("right", right));
  column = LabelColumn::last;
  const Corpus last = load(options("swapped", swapped));
  CHECK(last.labels == first.labels);
  for (int64_t i = 0; i < 40; ++i)
    CHECK(example_of(split(first, "train"), i).input == example_of(split(last, "train"), i).input);
  CHECK_CONTAINS(load_error(options("right", right)), "the text before the tab");
}

TEST_CASE("bytes: lines and labelled texts need not be UTF-8, labels do") {
  const TemporaryFolder folder;
  DataOptions options =
      file_options(&data_kinds::labelled, folder.write("train", "\xff\tx\n\xfe\ty\n"));
  options.level = Level::byte;
  options.val_fraction = options.test_fraction = 0;
  CHECK(example_of(split(load(options), "train"), 0).input == Ints{255});
  folder.write("train", "a\tx\nb\t\xff\n");
  CHECK_CONTAINS(load_error(options), "line 2: the label");
  options.level = Level::character;
  CHECK_CONTAINS(load_error(options), "line 2: not valid UTF-8");
}

TEST_CASE("the length of a source counts no special tokens, in every framing") {
  const auto lengths = [](const DataOptions& options, ModelKind framing) {
    const Corpus corpus = load_corpus(options, framing, 1);
    std::set<int64_t> found;
    for (int64_t i = 0; i < std::min<int64_t>(300, split(corpus, "train").size); ++i)
      found.insert(source_length(corpus, example_of(split(corpus, "train"), i)));
    return found;
  };
  DataOptions copy;
  copy.kind = &data_kinds::copy;
  copy.lengths = {1, 4};
  CHECK(lengths(copy, ModelKind::seq2seq) == std::set<int64_t>{1, 2, 3, 4});
  CHECK(lengths(copy, ModelKind::language_model) == std::set<int64_t>{1, 2, 3, 4});
  copy.kind = &data_kinds::parity;
  CHECK(lengths(copy, ModelKind::classifier) == std::set<int64_t>{1, 2, 3, 4});
  copy.kind = &data_kinds::recall;  // pairs of a key and its value, and a key
  copy.lengths = {2, 4};
  CHECK(lengths(copy, ModelKind::language_model) == std::set<int64_t>{5, 7, 9});
  DataOptions shapes;
  shapes.kind = &data_kinds::shapes;
  CHECK(lengths(shapes, ModelKind::classifier) == std::set<int64_t>{64});

  const TemporaryFolder folder;
  DataOptions files = file_options(&data_kinds::lines, folder.write("lines", "a\nbb\nccc\n"));
  files.val_fraction = files.test_fraction = 0;
  const Corpus lines = load(files);
  const Example line = example_of(split(lines, "train"), 1);
  CHECK(source_length(lines, line) == 2);
  CHECK(lines.target->decode(source_of(lines, line)) == "bb");
  files = file_options(&data_kinds::pairs, folder.write("pairs", "aa\tb\nabcd\tc\n"));
  files.val_fraction = files.test_fraction = 0;
  CHECK(lengths(files, ModelKind::seq2seq) == std::set<int64_t>{2, 4});
}

}  // namespace heed
