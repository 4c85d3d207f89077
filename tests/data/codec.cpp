// Vocabularies, and conversion of text to ids and back.
#include "core/random.h"
#include "core/text.h"
#include "data/text_codec.h"
#include "data/token_counts.h"
#include "support.h"

namespace heed {

using Ints = std::vector<int32_t>;

TEST_CASE("a vocabulary assigns ids and finds the special tokens") {
  const Vocabulary vocabulary({"a", "b", "<bos>", "<unk>"});
  CHECK(vocabulary.size() == 4);
  CHECK(vocabulary.find("b") == 1);
  CHECK(vocabulary.find("c") == Vocabulary::none);
  CHECK(vocabulary.begin() == 2);
  CHECK(vocabulary.unknown() == 3);
  CHECK(vocabulary.end() == Vocabulary::none);
  CHECK(vocabulary.separator() == Vocabulary::none);
  CHECK(vocabulary.token(0) == "a");
  CHECK_THROWS_AS((void)vocabulary.token(4), Error);
  CHECK_THROWS_AS((void)vocabulary.token(-1), Error);
}

TEST_CASE("an invalid vocabulary is rejected") {
  CHECK_CONTAINS(input_error([] { Vocabulary({}); }), "no tokens");
  CHECK_CONTAINS(input_error([] { Vocabulary({"a", "b", "a"}); }), "\"a\" is repeated");
  CHECK_CONTAINS(input_error([] { Vocabulary({"\x1b[2J", "\x1b[2J"}); }), "token \"\\x1b[2J\" is");
  const std::string longest(100, 'a');
  CHECK_CONTAINS(input_error([&] { Vocabulary({longest, longest}); }), longest.substr(0, 60) + '"');
  CHECK_CONTAINS(input_error([] { TextCodec(Level::byte, {"a", "b"}); }), "\"00\" to \"ff\"");
}

TEST_CASE("the most frequent tokens are chosen, in byte order") {
  TokenCounts counts;
  for (const char* word : {"pear", "fig", "apple", "fig", "pear", "fig", "<eos>", "<eos>", "<eos>"})
    counts.add(word);
  using Words = std::vector<std::string>;
  CHECK(counts.chosen(1, 0) == Words{"apple", "fig", "pear"});
  CHECK(counts.chosen(2, 0) == Words{"fig", "pear"});
  CHECK(counts.chosen(1, 1) == Words{"fig"});
  CHECK(counts.chosen(9, 0).empty());
  const TokenCounts rest = counts.without(Vocabulary({"apple"}));
  CHECK(rest.examples(1) == "\"fig\", …");
  CHECK(rest.examples(2) == "\"fig\", \"pear\"");
}

TEST_CASE("characters, words and bytes are converted to ids and back") {
  const TextCodec characters(Level::character, {"a", "b", "é", "<bos>", "<eos>"});
  CHECK(characters.encode("bé") == Ints{1, 2});
  CHECK(characters.decode(Ints{3, 1, 2, 4}) == "bé");

  const TextCodec words(Level::word, {"1", "3", "10"});
  CHECK(words.encode(" 3 1\t10\n") == Ints{1, 0, 2});
  CHECK(words.decode(Ints{1, 0, 2}) == "3 1 10");
  CHECK(words.encode("").empty());

  std::vector<std::string> tokens = byte_tokens();
  tokens.push_back("<eos>");
  const TextCodec bytes(Level::byte, tokens);
  CHECK(bytes.encode("a\xff") == Ints{97, 255});
  CHECK(bytes.decode(Ints{97, 255, 256}) == "a\xff");
}

TEST_CASE("an unknown token becomes <unk>, or is named in the error") {
  const TextCodec codec(Level::character, {"a", "b"});
  const std::string message = input_error([&] { (void)codec.encode("abßa"); });
  CHECK_CONTAINS(message, "the character \"ß\" (number 3 of the text) is not in the vocabulary");
  CHECK_CONTAINS(input_error([&] { (void)codec.encode("ab\xc3"); }), "not valid UTF-8 at byte 2");
  CHECK(TextCodec(Level::character, {"a", "<unk>"}).encode("aß") == Ints{0, 1});
  const TextCodec words(Level::word, {"<eos>", "a"});
  CHECK_CONTAINS(input_error([&] { (void)words.encode("a <eos>"); }), "the word \"<eos>\"");
  CHECK_CONTAINS(input_error([&] { (void)codec.encode("\x1b"); }), "\"\\x1b\"");
}

TEST_CASE("tokens outside the vocabulary are left out and counted") {
  const TextCodec codec(Level::character, {"a", "b", "<unk>"});
  int64_t skipped = 0;
  CHECK(codec.encode("axbyy", &skipped) == Ints{0, 1});
  CHECK(codec.prompt("za", &skipped) == Ints{0});
  CHECK(skipped == 4);
  CHECK(codec.encode("x") == Ints{2});
}

TEST_CASE("a prompt has the special tokens of its vocabulary") {
  CHECK(TextCodec(Level::character, {"a", "b"}).prompt("ab") == Ints{0, 1});
  CHECK(TextCodec(Level::character, {"a", "<bos>", "<eos>"}).prompt("a") == Ints{1, 0});
  CHECK(TextCodec(Level::word, {"5", "<sep>", "<eos>"}).prompt("5 5") == Ints{0, 0, 1});
  const TextCodec plain = TextCodec(Level::word, {"5", "<sep>", "<bos>", "<eos>"}).without_marks();
  CHECK(plain.prompt("5 5") == Ints{0, 0});
  CHECK(plain.vocabulary().end() == Vocabulary::none);
  CHECK(plain.vocabulary().find("<eos>") == 3);
}

TEST_CASE("random UTF-8 is the same after encoding and decoding, by character and by byte") {
  Random random(1, Purpose::test);
  for (int round = 0; round < 200; ++round) {
    TokenCounts counts;
    std::string text;
    for (uint64_t n = random.below(40); n > 0; --n) {
      // A code point of 1 to 4 bytes, but no surrogate.
      const uint32_t limits[] = {0x80, 0x800, 0xD800, 0x110000},
                     starts[] = {0, 0x80, 0x800, 0x10000};
      const uint64_t size = random.below(4);
      const auto code =
          static_cast<uint32_t>(starts[size] + random.below(limits[size] - starts[size]));
      if (code < 0x80) {
        text += static_cast<char>(code);
      } else {
        if (code >= 0x10000) text += static_cast<char>(0xF0 | code >> 18);
        if (code >= 0x10000) text += static_cast<char>(0x80 | (code >> 12 & 0x3F));
        if (code >= 0x800 && code < 0x10000) text += static_cast<char>(0xE0 | code >> 12);
        if (code >= 0x800) text += static_cast<char>(0x80 | (code >> 6 & 0x3F));
        if (code < 0x800) text += static_cast<char>(0xC0 | code >> 6);
        text += static_cast<char>(0x80 | (code & 0x3F));
      }
    }
    REQUIRE(find_invalid_utf8(text) == std::string::npos);
    for_each_token(Level::character, text, [&](std::string_view token) { counts.add(token); });
    std::vector<std::string> tokens = counts.chosen(1, 0);
    tokens.push_back("<unk>");
    const TextCodec characters(Level::character, tokens), bytes(Level::byte, byte_tokens());
    CHECK(characters.decode(characters.encode(text)) == text);
    CHECK(bytes.decode(bytes.encode(text)) == text);
  }
}

}  // namespace heed
