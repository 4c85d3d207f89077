// core/text: what is shown of text that may hold anything.
#include "core/text.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

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

TEST_CASE("text in messages shows characters that cannot be seen") {
  CHECK(in_quotes("a\u00a0") == "\"a\\u00a0\"");
  CHECK(shortened("\ufeff\u200b\u00ad\u3000\u2028\u202f\ufe0f\U000e0041") ==
        "\\ufeff\\u200b\\u00ad\\u3000\\u2028\\u202f\\ufe0f\\U000e0041");
  CHECK(shortened("é ß 漢 😀 ¡ a\u0301") == "é ß 漢 😀 ¡ a\u0301");
  CHECK(escaped("a\u00a0\ufeff") == "a\u00a0\ufeff");
}

TEST_CASE("string literals of JSON and TOML") {
  CHECK(string_literal("a\"b\\c") == "\"a\\\"b\\\\c\"");
  CHECK(string_literal("\x1b\n\x7fé") == "\"\\u001B\\u000A\\u007Fé\"");
}

TEST_CASE("UTF-8: the encodings of all code points are characters, and nothing else is") {
  std::set<std::string> characters;
  int wrong = 0;
  for (uint32_t code = 0; code < 0x110000; ++code) {
    if (code >= 0xD800 && code < 0xE000) continue;  // surrogates
    // The last byte has the last 6 bits; the first has as many leading ones as there are bytes.
    const int count = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    std::string bytes;
    for (uint32_t rest = code, i = 1; static_cast<int>(i) < count; ++i, rest /= 64)
      bytes.insert(bytes.begin(), static_cast<char>(128 + rest % 64));
    const uint32_t ones[] = {0, 0, 192, 224, 240}, high = code >> (6 * (count - 1));
    bytes.insert(bytes.begin(), static_cast<char>(ones[count] + high));
    wrong += utf8_length(bytes) != bytes.size();
    for (size_t cut = 0; cut < bytes.size(); ++cut) wrong += utf8_length(bytes.substr(0, cut)) != 0;
    if (code < 0x900 || code % 64 == 0 || code % 64 == 63) characters.insert(bytes);
  }
  // Any two bytes, before bytes at the edges of what may follow: those that are not in the set.
  for (int first = 0; first < 256; ++first)
    for (int second = 0; second < 256; ++second)
      for (const int third : {0x7F, 0x80, 0xBF, 0xC0})
        for (const int fourth : {0x7F, 0x80, 0xBF, 0xC0}) {
          std::string bytes;
          for (const int byte : {first, second, third, fourth}) bytes += static_cast<char>(byte);
          size_t expected = 0;
          for (size_t length = 1; length <= 4; ++length)
            if (characters.contains(bytes.substr(0, length))) expected = length;
          wrong += utf8_length(bytes) != expected;
        }
  CHECK(wrong == 0);
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
