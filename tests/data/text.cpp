// One long text: splits, windows, vocabulary.
#include <filesystem>

#include "data/files.h"
#include "support.h"

namespace heed {

using Ints = std::vector<int32_t>;

static std::string sample(int64_t characters) {
  std::string text;
  for (int64_t i = 0; i < characters; ++i) text += "abcdefghij"[(i * i + i / 7) % 10];
  return text;
}

TEST_CASE(
    "validation windows cover the end of the text once, training windows start at every position") {
  const TemporaryFolder folder;
  for (const int64_t size : {100, 101, 102, 997}) {
    DataOptions options = file_options(&data_kinds::text, folder.write("text", sample(size)));
    options.context = 7;
    const Corpus corpus = load_corpus(options, ModelKind::language_model, 1);
    const Ints all = corpus.source->encode(sample(size));
    const auto cut = static_cast<int64_t>(static_cast<double>(size) * 0.9);
    CHECK(corpus.longest_input == 7);
    CHECK(corpus.source->vocabulary().size() == 10);

    const Dataset& train = split(corpus, "train");
    CHECK(train.size == cut - 7);
    for (int64_t i = 0; i < train.size; ++i) {
      const Example example = example_of(train, i);
      CHECK(example.input == Ints(all.begin() + i, all.begin() + i + 7));
      CHECK(example.target == Ints(all.begin() + i + 1, all.begin() + i + 8));
      CHECK(example.prompt == 0);
    }
    Ints inputs, targets;
    for (int64_t i = 0; i < split(corpus, "val").size; ++i) {
      const Example example = example_of(split(corpus, "val"), i);
      CHECK(example.input.size() == example.target.size());
      CHECK((example.input.size() == 7 || i == split(corpus, "val").size - 1));
      inputs.insert(inputs.end(), example.input.begin(), example.input.end());
      targets.insert(targets.end(), example.target.begin(), example.target.end());
    }
    CHECK(inputs == Ints(all.begin() + cut, all.end() - 1));
    CHECK(targets == Ints(all.begin() + cut + 1, all.end()));
  }
}

TEST_CASE("the vocabulary comes from training; <unk> is added if validation needs it") {
  const TemporaryFolder folder;
  const std::string text = sample(90);
  const auto load = [&](const std::string& whole) {
    DataOptions options = file_options(&data_kinds::text, folder.write("text", whole));
    options.context = 5;
    return load_corpus(options, ModelKind::language_model, 1);
  };
  const Corpus plain = load(text + "abcabcabca");
  CHECK(plain.source->vocabulary().size() == 10);
  const Corpus with_unknown = load(text + "abcXbcabca");
  CHECK(with_unknown.source->vocabulary().size() == 11);
  CHECK(with_unknown.source->vocabulary().find("X") == -1);
  CHECK(with_unknown.source->vocabulary().unknown() == 10);
  CHECK(example_of(split(with_unknown, "val"), 0).input == Ints{0, 1, 2, 10, 1});
}

TEST_CASE("several files are read as one, by character or byte") {
  const TemporaryFolder folder;
  DataOptions options;
  options.kind = &data_kinds::text;
  options.paths = {folder.write("a", "\xEF\xBB\xBFéaéaéaéaéa"), folder.write("b", "bébébébébé")};
  options.context = 3;
  const Corpus characters = load_corpus(options, ModelKind::language_model, 1);
  CHECK(characters.source->vocabulary().tokens() == std::vector<std::string>{"a", "b", "é"});
  CHECK(split(characters, "train").size == 18 - 3);
  CHECK(characters.files == options.paths);
  options.level = Level::byte;
  const Corpus bytes = load_corpus(options, ModelKind::language_model, 1);
  CHECK(bytes.source->vocabulary().size() == 256);
  CHECK(split(bytes, "train").size == 27 - 3);
  CHECK(bytes.source->decode(example_of(split(bytes, "train"), 0).input) == "éa");
  CHECK(bytes.fingerprint != characters.fingerprint);
}

TEST_CASE("a text is the same with \\r\\n or \\n and with a byte order mark, at each level") {
  const TemporaryFolder folder;
  const auto fingerprint = [&](const std::string& text, Level level) {
    DataOptions options = file_options(&data_kinds::text, folder.write("text", text));
    options.val_fraction = 0.2;
    options.context = 3;
    options.level = level;
    const Corpus corpus = load_corpus(options, ModelKind::language_model, 1);
    std::string all = corpus.source->decode(example_of(split(corpus, "train"), 0).input);
    for (int64_t i = 0; i < split(corpus, "val").size; ++i)
      all += corpus.source->decode(example_of(split(corpus, "val"), i).input);
    CHECK(all.find('\r') == all.npos);
    return fmt::format("{} {} {}", all, corpus.source->vocabulary().size(), corpus.fingerprint);
  };
  for (const Level level : {Level::character, Level::byte}) {
    const std::string plain = fingerprint("ab\ncd\nab\ncd\n", level);
    CHECK(fingerprint("ab\r\ncd\nab\r\ncd\r\n", level) == plain);
    const auto without_hash = [](const std::string& text) {
      return text.substr(0, text.rfind(' '));
    };
    CHECK(without_hash(fingerprint("\xEF\xBB\xBF"
                                   "ab\ncd\nab\ncd\n",
                                   level)) == without_hash(plain));
  }
  std::string text = "\r\n\ra\r\r\nb\r";
  unify_line_ends(text);
  CHECK(text == "\n\ra\r\nb");
}

TEST_CASE("a text without validation has no such split") {
  const TemporaryFolder folder;
  DataOptions options = file_options(&data_kinds::text, folder.write("text", sample(50)));
  options.val_fraction = 0;
  options.context = 49;
  const Corpus corpus = load_corpus(options, ModelKind::language_model, 1);
  CHECK_FALSE(corpus.splits.contains("val"));
  CHECK(split(corpus, "train").size == 1);
}

TEST_CASE("the fingerprint changes with the text, not with its path") {
  const TemporaryFolder folder;
  DataOptions options = file_options(&data_kinds::text, folder.write("text", sample(100)));
  options.context = 5;
  const std::string before = load_corpus(options, ModelKind::language_model, 1).fingerprint;
  CHECK(before.size() == 16);
  CHECK(load_corpus(options, ModelKind::language_model, 2).fingerprint == before);
  std::filesystem::rename(folder / "text", folder / "moved");
  options.path = folder / "moved";
  CHECK(load_corpus(options, ModelKind::language_model, 1).fingerprint == before);
  folder.write("moved", sample(99) + "z");
  CHECK(load_corpus(options, ModelKind::language_model, 1).fingerprint != before);
}

TEST_CASE("the error for an invalid text names the file and the position") {
  const TemporaryFolder folder;
  const auto error = [](const std::string& path, Level level = Level::character) {
    DataOptions options = file_options(&data_kinds::text, path);
    options.level = level;
    const std::string message =
        input_error([&] { load_corpus(options, ModelKind::language_model, 1); });
    CHECK_CONTAINS(message, path);
    CHECK(message.find('\n') == std::string::npos);
    return message;
  };
  CHECK_CONTAINS(error(folder / "missing"), "there is no such file");
  CHECK_CONTAINS(error(folder / "."), "is a folder");
  CHECK_CONTAINS(error("/dev/null"), "is not a regular file");
  std::filesystem::create_symlink("loop", folder / "loop");
  CHECK_CONTAINS(error(folder / "loop"), "Too many levels of symbolic links");
  CHECK_CONTAINS(error(folder.write("empty", "")), "is empty");
  CHECK_CONTAINS(error(folder.write("mark", "\xEF\xBB\xBF")), "is empty");
  using namespace std::string_view_literals;
  CHECK_CONTAINS(error(folder.write("binary", "one\ntwo\0three\n"sv)),
                 "line 2: a NUL byte at offset 7");
  CHECK_CONTAINS(error(folder.write("latin1", "one\ntwo\nna\xEFve\n")),
                 "line 3: not valid UTF-8 at byte offset 10");
  CHECK_CONTAINS(error(folder.write("ends", "a\r\nb\r\n\xFF")),
                 "line 3: not valid UTF-8 at byte offset 6");
  CHECK_CONTAINS(error(folder.write("utf16",
                                    "\xFF\xFE"
                                    "a\0b\0"sv)),
                 ": UTF-16, not UTF-8: convert it with iconv -f UTF-16 -t UTF-8");
  CHECK_CONTAINS(error(folder.write("big", "\xFE\xFF\0a"sv)), "iconv -f UTF-16 -t UTF-8");
  CHECK_CONTAINS(error(folder.write("bare", "a\0b\0"sv)), "iconv -f UTF-16LE -t UTF-8");
  CHECK_CONTAINS(error(folder.write("bare", "\0a\0b"sv)), "iconv -f UTF-16BE -t UTF-8");
  CHECK_CONTAINS(error(folder.write("utf32", "\xFF\xFE\0\0a\0\0\0"sv)), "iconv -f UTF-32");
  CHECK_CONTAINS(error(folder.write("x", "\x1F\x8B\b")), "unpack it with gunzip");
  CHECK_CONTAINS(error(folder.write("x.xlsx", "PK\x03\x04")), "a ZIP archive");
  CHECK(foreign_format("text") == "");
  CHECK(foreign_format("\0\0\0\0"sv) == "");
  CHECK_CONTAINS(error(folder.write("blank", " \n \n"), Level::word),
                 "the vocabulary is empty: no word occurs");
  CHECK_CONTAINS(error(folder.write("cut", "one\nt\xE2\x82")),
                 "line 2: not valid UTF-8 at byte offset 5");
  CHECK_CONTAINS(
      error(folder.write("short", sample(60))),
      "too short: 54 of its 60 characters are for training, and `context` = 64 needs 65");
  CHECK_CONTAINS(error(folder.write("short", sample(60)), Level::byte), "its 60 bytes");
}

TEST_CASE("at byte level any file is a text") {
  const TemporaryFolder folder;
  std::string bytes;
  for (int i = 0; i < 1000; ++i) bytes += static_cast<char>(i * 7);
  DataOptions options = file_options(&data_kinds::text, folder.write("bytes", bytes));
  options.level = Level::byte;
  const Corpus corpus = load_corpus(options, ModelKind::language_model, 1);
  CHECK(corpus.source->decode(example_of(split(corpus, "train"), 10).input) ==
        bytes.substr(10, 64));
}

}  // namespace heed
