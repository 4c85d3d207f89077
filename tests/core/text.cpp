// core/text: what is shown of text that may hold anything.
#include "core/text.h"

#include <doctest/doctest.h>

#include "core/random.h"

using namespace heed;

TEST_CASE("escaped text has no control characters but newline and tab") {
  CHECK(escaped("plain, é, 😀\n\tend") == "plain, é, 😀\n\tend");
  CHECK(escaped("\x1b]0;title\x07") == "\\x1b]0;title\\x07");
  CHECK(escaped(std::string("a\0b\x7f\r", 5)) == "a\\x00b\\x7f\\x0d");
  CHECK(escaped("\u0080\u009b31m\u009f\u00a0") == "\\u0080\\u009b31m\\u009f\u00a0");
  CHECK(escaped("\u202a\u202e\u2066\u2069") == "\\u202a\\u202e\\u2066\\u2069");
  CHECK(escaped("\u2029\u202f\u2065\u206a") == "\u2029\u202f\u2065\u206a");
  CHECK(escaped("\xff\xc3(\xed\xa0\x80\xf4\x90\x80\x80") ==
        "\\xff\\xc3(\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80");
  CHECK(escaped("C:\\new") == "C:\\new");
}

TEST_CASE("text in messages is short, on one line and without control characters") {
  CHECK(in_quotes("a\nb") == "\"a\\x0ab\"");
  CHECK(in_quotes("\x1b[31m") == "\"\\x1b[31m\"");
  CHECK(in_quotes(std::string(1000, 'x')) == "\"" + std::string(60, 'x') + "…\"");
  CHECK(in_quotes("name", '\'') == "'name'");
  CHECK(shortened(std::string(60, 'x')) == std::string(60, 'x'));
  CHECK(shortened(std::string(39, 'x') + "😀yyyy", 40) == std::string(39, 'x') + "😀…");
}

TEST_CASE("string literals of JSON and TOML") {
  CHECK(string_literal("a\"b\\c") == "\"a\\\"b\\\\c\"");
  CHECK(string_literal("\x1b\n\x7fé") == "\"\\u001B\\u000A\\u007Fé\"");
}

TEST_CASE("of any bytes, escaped text is UTF-8 and stays as it is") {
  Random random(5, Purpose::test);
  for (int round = 0; round < 5000; ++round) {
    std::string bytes;
    for (uint64_t n = random.below(40); n > 0; --n)
      bytes += static_cast<char>(random.below(random.below(2) ? 256 : 128));
    const std::string shown = escaped(bytes);
    CHECK(escaped(shown) == shown);
    for (size_t at = 0; at < shown.size(); at += utf8_length(std::string_view(shown).substr(at)))
      REQUIRE(utf8_length(std::string_view(shown).substr(at)) > 0);
  }
}
