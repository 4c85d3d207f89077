// Subwords: ids are those of SentencePiece (tests/fixtures/make_subwords.py), and no text changes.
#include "data/subwords.h"

#include <utf8.h>

#include <filesystem>
#include <iterator>
#include <sstream>

#include "core/random.h"
#include "core/text.h"
#include "data/files.h"
#include "data/text_codec.h"
#include "support.h"

namespace heed {

using Ints = std::vector<int32_t>;

namespace {

std::string fixture(const std::string& name) {
  const auto tests = std::filesystem::path(__FILE__).parent_path().parent_path();
  return read_bytes(tests / "fixtures" / name, 1 << 20);
}

std::string model_of(const std::string& type) { return fixture("subwords_" + type + ".model"); }

TextCodec codec_of(std::string model) {
  const auto subwords = std::make_shared<Subwords>(std::move(model));
  std::vector<std::string> tokens = subwords->pieces();
  for (const char* special : {begin_token, end_token}) tokens.emplace_back(special);
  return {Level::subword, tokens, subwords};
}

std::string license() {
  const auto tests = std::filesystem::path(__FILE__).parent_path().parent_path();
  return read_bytes(tests.parent_path() / "LICENSE", 1 << 20);
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for_each_line(text, [&](std::string_view line, int64_t) { lines.push_back(line); });
  return lines;
}

}  // namespace

TEST_CASE("subwords: ids are those of SentencePiece for Python") {
  std::istringstream cases(fixture("subwords.txt"));
  int checked = 0;
  for (std::string line; std::getline(cases, line); ++checked) {
    std::istringstream words(line);
    std::string type, digits, text;
    words >> type >> digits;
    for (size_t i = 0; i < digits.size(); i += 2)
      text += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
    Ints expected;
    for (int32_t id; words >> id;) expected.push_back(id);
    const TextCodec codec = codec_of(model_of(type));
    CHECK(codec.encode(text) == expected);
    CHECK(codec.decode(expected) == text);
  }
  CHECK(checked == 18);
}

TEST_CASE("subwords: training gives the model of SentencePiece for Python, always the same") {
  const std::string text = license();
  const std::string model = Subwords::train(lines_of(text), 400);
  CHECK(model == model_of("bpe"));
  CHECK(model == Subwords::train(lines_of(text), 400));
}

TEST_CASE("subwords: encoding loses nothing of any UTF-8") {
  const TextCodec codecs[] = {codec_of(model_of("bpe")), codec_of(model_of("unigram"))};
  std::vector<std::string> texts = {"",
                                    "\u2581",
                                    " \u2581\u2581 \xC3\xA9",
                                    "\n\n \r\n",
                                    "<eos><unk>",
                                    std::string(70'000, 'a'),
                                    std::string(70'000, ' ')};
  std::string long_line;
  for (int i = 0; i < 20'000; ++i) long_line += i % 5 ? "\u00E9" : "x";
  texts.push_back(long_line);
  Random random(1, Purpose::test, 0, 0, 0);
  for (int i = 0; i < 300; ++i) {
    std::string text;
    for (auto length = random.below(30); length > 0; --length) {
      const auto kind = random.below(4);
      const auto code = static_cast<uint32_t>(random.below(kind == 0   ? 0x80
                                                           : kind == 1 ? 0x800
                                                           : kind == 2 ? 0xD800
                                                                       : 0x2600));
      utf8::append(kind == 3 ? 0x2500 + code % 0x100 : code, std::back_inserter(text));
    }
    texts.push_back(text);
  }
  for (const TextCodec& codec : codecs)
    for (const std::string& text : texts)
      CHECK_MESSAGE(codec.decode(codec.encode(text)) == text, escaped(text));
}

TEST_CASE("subwords: special tokens in a text are text, and ids of special tokens are no text") {
  const TextCodec codec = codec_of(model_of("bpe"));
  Ints ids = codec.prompt("a <eos>");
  CHECK(ids[0] == codec.vocabulary().begin());
  CHECK(std::find(ids.begin(), ids.end(), codec.vocabulary().end()) == ids.end());
  ids.push_back(codec.vocabulary().end());
  CHECK(codec.decode(ids) == "a <eos>");
  CHECK_CONTAINS(input_error([&] { (void)codec.encode("a\xFF"); }), "not valid UTF-8");
}

TEST_CASE("subwords: texts without spaces, of one character or of reserved ones give a tokenizer") {
  for (const char* text :
       {"a", "aaaa", "\n", "\u2585\u2585", "\u2581", "\t", "<eos> <eos> <eos> <eos>"}) {
    const std::string many = std::string(text) + text + text;
    const TextCodec codec = codec_of(Subwords::train({many, many}, 300));
    CHECK(codec.decode(codec.encode(many)) == many);
  }
  const std::string text = license();
  CHECK_CONTAINS(input_error([&] { (void)Subwords::train({text}, 100); }),
                 "`max_vocabulary` = 100: expected room for 257 pieces for bytes and <unk>");
}

TEST_CASE("subwords: of a text with many distinct words the trainer reads evenly spread parts") {
  const auto read = [](std::string_view text) {
    size_t bytes = 0;
    for (const std::string_view part : Subwords::training_parts({text})) bytes += part.size();
    return bytes;
  };
  Random random(3, Purpose::test, 0, 0, 0);
  std::string letters(5'000'000, ' '), words;
  for (char& letter : letters) letter = static_cast<char>('a' + random.below(26));
  CHECK(letters.size() > 2 * Subwords::max_distinct_bytes);
  const auto parts = Subwords::training_parts({letters});
  CHECK(read(letters) <= Subwords::max_distinct_bytes + (1 << 14));
  CHECK(read(letters) > Subwords::max_distinct_bytes / 2);
  CHECK(parts.back().data() > letters.data() + letters.size() - (1 << 16));
  for (int i = 0; words.size() < letters.size(); ++i) words += i % 9 ? "every word " : "again\n";
  CHECK(read(words) == words.size());
  const std::string_view few = std::string_view(letters).substr(0, 100'000);
  CHECK(read(few) == few.size());
}

TEST_CASE("subwords: a damaged model is rejected, or restores texts") {
  CHECK_CONTAINS(input_error([] { Subwords(""); }), "not a model of SentencePiece");
  CHECK_CONTAINS(input_error([] { Subwords("hello"); }), "not a model of SentencePiece");
  // Numbers before a table of characters to replace: field 9 is 5; of field 3, 4 is 1 and 2 "x".
  CHECK_CONTAINS(input_error([] { Subwords("\x48\x05\x1a\x05\x20\x01\x12\x01x"); }),
                 "the tokenizer changes characters of its texts");
  Random random(2, Purpose::test, 0, 0, 0);
  int rejected = 0;
  for (const char* type : {"bpe", "unigram"}) {
    const std::string model = model_of(type);
    for (int i = 0; i < 100; ++i) {
      std::string damaged = model;
      if (i % 2)
        damaged.resize(random.below(model.size()));
      else
        damaged[random.below(model.size())] = static_cast<char>(random.below(256));
      try {
        const Subwords subwords(damaged);
        Ints ids;
        subwords.append("any text", ids);
        std::string text;
        for (const int32_t id : ids) text += subwords.text(id);
        CHECK(text == "any text");
      } catch (const InputError&) {
        ++rejected;
      }
    }
  }
  CHECK(rejected > 80);
}

TEST_CASE(
    "data.level = \"subword\": a tokenizer is trained on training only, or read from a file") {
  const TemporaryFolder folder;
  std::string text = license();
  DataOptions options = file_options(&data_kinds::text, folder.write("text", text));
  options.level = Level::subword;
  options.max_vocabulary = 350;
  options.context = 8;
  const Corpus corpus = load_corpus(options, ModelKind::language_model, 1);
  const size_t end = static_cast<size_t>(static_cast<double>(text.size()) * 0.9);
  std::string trained, held_out;
  for (int64_t i = 0; i < split(corpus, "train").size; ++i)
    trained += corpus.source->decode(Ints{example_of(split(corpus, "train"), i).input[0]});
  for (int64_t i = 0; i < split(corpus, "val").size; ++i)
    held_out += corpus.source->decode(example_of(split(corpus, "val"), i).input);
  CHECK(text.starts_with(trained));
  CHECK(text.substr(end).starts_with(held_out));  // the same characters as at character level
  CHECK(corpus.source->subwords()->model() == Subwords::train({text.substr(0, end)}, 350));
  options.path = folder.write("text", text.substr(0, end) + std::string(text.size() - end, 'z'));
  CHECK(load_corpus(options, ModelKind::language_model, 1).source->subwords()->model() ==
        corpus.source->subwords()->model());

  std::string pairs;
  for (const std::string_view line : lines_of(text))
    if (!line.empty()) pairs += std::string(line) + "\t" + std::string(line) + "\n";
  options = file_options(&data_kinds::pairs, folder.write("pairs", pairs));
  options.level = Level::subword;
  options.tokenizer = folder.write("bpe.model", model_of("bpe"));
  options.val_fraction = options.test_fraction = 0;
  const Corpus read = load_corpus(options, ModelKind::seq2seq, 1);
  CHECK(read.source->vocabulary().size() == 400);
  CHECK(read.target->vocabulary().tokens().back() == end_token);
  CHECK(read.target->vocabulary().size() == 402);
  const Example example = example_of(split(read, "train"), 0);
  CHECK(read.target->decode(example.target) == read.source->decode(example.source));
}

TEST_CASE("data.level = \"subword\": contradictions and bad tokenizers are rejected") {
  const TemporaryFolder folder;
  DataOptions options = file_options(&data_kinds::text, folder.write("text", license()));
  const auto error = [&] {
    const std::string message =
        input_error([&] { load_corpus(options, ModelKind::language_model, 1); });
    CHECK(message.find('\n') == std::string::npos);
    return message;
  };
  options.tokenizer = folder / "none.model";
  CHECK_CONTAINS(error(), "`tokenizer` needs `level` = \"subword\"");
  options.level = Level::subword;
  CHECK_CONTAINS(error(), "`tokenizer`: " + (folder / "none.model") + ": there is no such file");
  options.tokenizer = options.path;
  CHECK_CONTAINS(error(), "text: not a model of SentencePiece");
  options.tokenizer = folder.write("cut.model", model_of("bpe").substr(0, 2000));
  CHECK_CONTAINS(error(), "`tokenizer`: " + (folder / "cut.model") + ": ");
  options.tokenizer = folder.write("empty.model", "");
  CHECK_CONTAINS(error(), "empty.model: not a model of SentencePiece");
  options.max_vocabulary = 300;
  CHECK_CONTAINS(error(), "`max_vocabulary` cannot be used with `tokenizer`");
  options.tokenizer.clear();
  options.min_count = 2;
  CHECK_CONTAINS(error(), "`min_count` cannot be used with `level` = \"subword\"");
  options.min_count = 1;
  options.max_vocabulary = 0;
  CHECK_CONTAINS(error(), "needs `max_vocabulary`, the number of pieces to train");
}

}  // namespace heed
