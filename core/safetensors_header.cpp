// A parser for this one dictionary. The grammar has a fixed depth, so there is no recursion. An
// error names the byte at which the text departs from the grammar:
//
// clang-format off
//   header = { entry , … }
//   entry  = "__metadata__" : { string : string , … }
//          | string : array
//   array  = { "dtype" : string , "shape" : [ n , … ] , "data_offsets" : [ n , n ] }   in any order
// clang-format on
#include "core/safetensors_header.h"

#include <fmt/format.h>

#include <set>

#include "core/check.h"
#include "core/joined.h"
#include "core/text.h"

namespace heed::inline HEED_REAL {
namespace {

class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  SafetensorsHeader parse() {
    SafetensorsHeader header;
    std::set<std::string> names;
    each_member([&](std::string name) {
      if (!names.insert(name).second) fail(fmt::format("{} twice", in_quotes(name, '\'')));
      if (name == "__metadata__")
        header.metadata = metadata();
      else
        header.arrays.push_back(array(std::move(name)));
    });
    if (at_ != text_.size()) fail("more after its last brace");
    return header;
  }

 private:
  [[noreturn]] void fail(std::string_view found) const {
    throw InputError(
        fmt::format("{}: not a sound safetensors file: its header has {} at byte {}; copy or save "
                    "the file again",
                    file_, found, at_ + 8));
  }
  char peek() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    const bool there = peek() == c && at_ < text_.size();
    at_ += there;
    return there;
  }
  void expect(char c) {
    if (!take(c)) fail(fmt::format("no '{}'", c));
  }

  template <class Member>
  void each_member(Member&& member) {
    expect('{');
    if (!take('}')) {
      do {
        std::string name = string();
        expect(':');
        member(std::move(name));
      } while (take(','));
      expect('}');
    }
    peek();  // white space after it
  }

  Metadata metadata() {
    Metadata texts;
    each_member([&](std::string key) {
      std::string value = string();
      if (!texts.emplace(key, std::move(value)).second)
        fail(fmt::format("the metadata {} twice", in_quotes(key, '\'')));
    });
    return texts;
  }

  StoredArray array(std::string name) {
    StoredArray array;
    array.name = std::move(name);
    bool dtype = false, shape = false;
    std::vector<int64_t> offsets;
    each_member([&](const std::string& key) {
      if (key == "dtype" && !dtype) {
        array.dtype = dtype_of(string(), array.name);
        dtype = true;
      } else if (key == "shape" && !shape) {
        array.dims = integers();
        shape = true;
      } else if (key == "data_offsets" && offsets.empty()) {
        offsets = integers();
        if (offsets.size() != 2) fail(fmt::format("{} data_offsets, not 2,", offsets.size()));
      } else {
        fail(fmt::format("the key {} out of place", in_quotes(key, '\'')));
      }
    });
    if (!dtype || !shape || offsets.empty())
      fail(fmt::format("the array {} without all of dtype, shape and data_offsets",
                       in_quotes(array.name, '\'')));
    array.offset = offsets[0];
    check_span(array, offsets[1]);
    return array;
  }

  // The bytes that are there must be the bytes that dtype and shape ask for.
  void check_span(const StoredArray& array, int64_t end) const {
    int64_t expected = 0;
    try {
      expected = array.bytes();
    } catch (const Error& error) {
      throw InputError(fmt::format("{}: {}", file_, error.what()));
    }
    check_input(end >= array.offset && end - array.offset == expected,
                "{}: the array {} is {}, {} bytes, but has bytes {} to {}; copy or save the file "
                "again",
                file_, in_quotes(array.name, '\''), type_text(array), expected, array.offset, end);
  }

  DType dtype_of(const std::string& word, const std::string& array) const {
    const std::optional<DType> dtype = dtype_named(word);
    check_input(dtype.has_value(), "{}: the array {} has an unknown element type {}", file_,
                in_quotes(array, '\''), in_quotes(word, '\''));
    return *dtype;
  }

  std::vector<int64_t> integers() {
    std::vector<int64_t> values;
    expect('[');
    if (take(']')) return values;
    do values.push_back(number());
    while (take(','));
    expect(']');
    return values;
  }

  // A count: digits only.
  int64_t number() {
    peek();
    const size_t start = at_;
    int64_t value = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_)
      if (__builtin_mul_overflow(value, 10, &value) ||
          __builtin_add_overflow(value, text_[at_] - '0', &value))
        fail("a number beyond 2^63");
    if (at_ == start) fail("no whole number");
    if (text_[start] == '0' && at_ > start + 1) fail("a number that starts with 0");
    return value;
  }

  std::string string() {
    expect('"');
    std::string value;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (static_cast<uint8_t>(text_[at_]) < 0x20) fail("a control character in a string");
      if (text_[at_] == '\\') {
        ++at_;
        escape(value);
        continue;
      }
      const size_t length = utf8_length(text_.substr(at_));
      if (length == 0) fail("a byte that is not UTF-8");
      value += text_.substr(at_, length);
      at_ += length;
    }
    expect('"');
    return value;
  }

  void escape(std::string& value) {
    constexpr std::string_view letters = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
    const char letter = at_ < text_.size() ? text_[at_] : '\0';
    if (const size_t i = letters.find(letter); i != letters.npos && letter != '\0') {
      ++at_;
      value += meanings[i];
      return;
    }
    if (letter != 'u') fail("an unknown escape");
    uint32_t code = hex_unit();
    if (code >= 0xD800 && code < 0xDC00 && text_.substr(at_, 2) == "\\u") {
      ++at_;
      const uint32_t low = hex_unit();
      if (low < 0xDC00 || low > 0xDFFF) fail("half of a surrogate pair");
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    if (code >= 0xD800 && code < 0xE000) fail("half of a surrogate pair");
    append_utf8(value, code);
  }

  // uXXXX
  uint32_t hex_unit() {
    uint32_t code = 0;
    if (text_.size() - at_ < 5) fail("an unfinished escape");
    for (const char c : text_.substr(at_ + 1, 4)) {
      const size_t digit = std::string_view("0123456789abcdef").find(static_cast<char>(c | 0x20));
      if (digit == std::string_view::npos || (c < 'A' && digit > 9)) fail("an unknown escape");
      code = code << 4 | static_cast<uint32_t>(digit);
    }
    at_ += 5;
    return code;
  }

  std::string_view text_;
  const std::string& file_;
  size_t at_ = 0;
};

}  // namespace

std::string type_text(const ArrayHeader& array) {
  return fmt::format("{} [{}]", dtype_name(array.dtype), shortened(joined(array.dims)));
}

SafetensorsHeader parse_safetensors_header(std::string_view text, const std::string& file) {
  return HeaderParser(text, file).parse();
}

std::string safetensors_header_text(const SafetensorsHeader& header) {
  std::string text = "{";
  const auto separator = [&] { return text.size() == 1 ? "" : ","; };
  if (!header.metadata.empty()) {
    std::string members;
    for (const auto& [key, value] : header.metadata)
      members += fmt::format("{}{}:{}", members.empty() ? "" : ",", string_literal(key),
                             string_literal(value));
    text += fmt::format("\"__metadata__\":{{{}}}", members);
  }
  for (const StoredArray& array : header.arrays)
    text += fmt::format("{}{}:{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}}",
                        separator(), string_literal(array.name), dtype_name(array.dtype),
                        joined(array.dims, ","), array.offset, array.offset + array.bytes());
  return text += '}';
}

}  // namespace heed::inline HEED_REAL
