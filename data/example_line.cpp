// Defines data/example_line.h: a scanner that reads the object from left to right, once. The values
// of its keys are nested two deep at most, so that it needs no recursion.
#include "data/example_line.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "core/check.h"
#include "core/text.h"

namespace heed {

namespace {

using Form = LineValue::Form;

// The bytes that stand for themselves in a string.
constexpr auto is_plain = [] {
  std::array<bool, 256> plain = {};
  for (size_t c = 0x20; c < plain.size(); ++c) plain[c] = c != '"' && c != '\\';
  return plain;
}();

constexpr std::string_view line_keys[] = {"input",     "source", "nodes", "target", "positions",
                                          "reference", "edges",  "grid",  "group",  "global"};

class LineScanner {
 public:
  LineScanner(std::string_view line, const LineOrigin& origin, ExampleLine& example)
      : at_(line.data()),
        end_(line.data() + line.size()),
        start_(at_),
        origin_(origin),
        example_(example) {}

  void scan() {
    expect('{', "an object, such as {\"input\": …, \"target\": …}");
    for (bool more = !next_is('}'); more; more = !ends('}')) scan_member();
    skip_space();
    if (at_ != end_) fail("expected the end of the line after the object");
    key_ = "nodes";
    if (((seen_ >> 2) & 1) != 0 && (seen_ & 3) != 0)
      throw_line_error(origin_, key_, "excludes \"input\" and \"source\"");
    if (!example_.source.exists() || *example_.input_key) return;
    std::swap(example_.input, example_.source);
    example_.input_key = line_keys[1].data();
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    const std::string_view rest(at_, static_cast<size_t>(end_ - at_));
    throw_line_error(origin_, key_,
                     rest.empty() ? fmt::format("{}, found the end of the line", what)
                                  : fmt::format("{}, found {} at byte {}", what,
                                                shortened(rest, 20), at_ - start_ + 1));
  }
  void skip_space() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\r')) ++at_;
  }
  // Skips a character if it is the next one.
  bool next_is(char c) {
    skip_space();
    const bool is = at_ != end_ && *at_ == c;
    at_ += is;
    return is;
  }
  void expect(char c, std::string_view what) {
    if (!next_is(c)) fail(fmt::format("expected {}", what));
  }
  // After an entry: whether the list or object ends, or else has a comma.
  bool ends(char close) {
    if (next_is(close)) return true;
    if (!next_is(',')) fail(fmt::format("expected ',' or '{}'", close));
    return false;
  }
  bool next_is_null() {
    skip_space();
    const bool is = std::string_view(at_, static_cast<size_t>(end_ - at_)).starts_with("null");
    at_ += is ? 4 : 0;
    return is;
  }

  std::string_view string(std::string_view what = "a string") {
    expect('"', what);
    const char* const first = at_;
    unsigned char bits = 0;
    while (at_ != end_ && is_plain[static_cast<unsigned char>(*at_)])
      bits |= static_cast<unsigned char>(*at_++);
    if (at_ != end_ && static_cast<unsigned char>(*at_) < 0x20)
      fail("expected no control character");
    std::string_view text(first, static_cast<size_t>(at_ - first));
    if (at_ != end_ && *at_ == '\\') {
      text = example_.unescaped.emplace_front(unescape(text));
      bits = 0x80;
    }
    expect('"', "the '\"' that ends a string");
    if (bits >= 0x80 && find_invalid_utf8(text) != text.npos) fail("expected valid UTF-8 before");
    return text;
  }
  // Returns the string that begins with `text` and goes on with an escape.
  std::string unescape(std::string_view text) {
    std::string all(text);
    for (; at_ != end_ && *at_ != '"'; ++at_) {
      if (static_cast<unsigned char>(*at_) < 0x20) fail("expected no control character");
      if (*at_ != '\\') {
        all += *at_;
        continue;
      }
      constexpr std::string_view letters = "\"\\/bfnrtu", meanings = "\"\\/\b\f\n\r\t";
      const size_t letter = ++at_ == end_ ? letters.npos : letters.find(*at_);
      if (letter == letters.npos) fail("expected one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u");
      letter < meanings.size() ? void(all += meanings[letter]) : append_code_point(all);
    }
    return all;
  }
  // Reads the four digits after \u, and leaves the last one to be skipped.
  uint32_t code_unit() {
    uint32_t unit = 0;
    if (end_ - at_ < 5 || std::from_chars(at_ + 1, at_ + 5, unit, 16).ptr != at_ + 5)
      fail("expected four hexadecimal digits after \\u");
    at_ += 4;
    return unit;
  }
  void append_code_point(std::string& text) {
    uint32_t c = code_unit();
    if (c >= 0xD800 && c < 0xDC00 && end_ - at_ > 2 && at_[1] == '\\' && at_[2] == 'u') {
      at_ += 2;
      const uint32_t low = code_unit();
      c = low >= 0xDC00 && low < 0xE000 ? 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00) : 0xD800;
    }
    if (c >= 0xD800 && c < 0xE000) fail("expected a pair of surrogates before");
    const int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;  // bytes after the first
    constexpr uint32_t leads[] = {0, 0xC0, 0xE0, 0xF0};
    text += static_cast<char>(leads[more] | (c >> (6 * more)));
    for (int i = more - 1; i >= 0; --i) text += static_cast<char>(0x80 | ((c >> (6 * i)) & 0x3F));
  }

  float number(std::string_view what) {
    skip_space();
    const char* const digit = at_ + (at_ != end_ && *at_ == '-');
    if (digit == end_ || *digit < '0' || *digit > '9') fail(fmt::format("expected {}", what));
    double value = std::numeric_limits<double>::infinity();  // stays if it is out of range
#ifdef __cpp_lib_to_chars
    const char* const last = std::from_chars(at_, end_, value).ptr;
#else  // libc++ reads no floating-point numbers this way
    const std::string_view rest(at_, static_cast<size_t>(end_ - at_));
    const std::string text(rest.substr(0, rest.find_first_not_of("+-.0123456789eE")));
    char* text_end = nullptr;
    value = std::strtod(text.c_str(), &text_end);
    const char* const last = at_ + (text_end - text.c_str());
#endif
    const auto narrow = static_cast<float>(value);
    if (!std::isfinite(narrow)) fail("expected a number in the range of float32");
    at_ = last;
    return narrow;
  }
  std::vector<int32_t> integers(std::vector<int32_t> list) {
    expect('[', "a list of integers");
    list.clear();
    for (bool more = !next_is(']'); more; more = !ends(']')) {
      skip_space();
      int32_t value = 0;
      const auto [last, error] = std::from_chars(at_, end_, value);
      if (error != std::errc() || value < 0 ||
          (last != end_ && (*last == '.' || *last == 'e' || *last == 'E')))
        fail("expected an integer from 0 to 2147483647");
      at_ = last;
      list.push_back(value);
    }
    if (list.empty()) fail("expected at least one integer before");
    return list;
  }

  void enter(LineValue& value, Form form) {
    if (value.form == form) return;
    if (value.form != Form::absent)
      fail("expected entries of one kind: all strings, all numbers or all lists of numbers");
    value.form = form;  // nulls may have come before
    if (form == Form::tokens) value.tokens.resize(static_cast<size_t>(value.size));
    if (form == Form::numbers) value.numbers.assign(static_cast<size_t>(value.size), nan);
  }
  void scan_entry(LineValue& value) {
    skip_space();
    const char first = at_ == end_ ? ' ' : *at_;
    if (first == '"') {
      enter(value, Form::tokens);
      value.tokens.push_back(string());
      if (value.tokens.back().empty()) fail("expected no empty token before");
    } else if (first == '[') {
      ++at_;
      const size_t before = value.numbers.size();
      for (bool more = !next_is(']'); more; more = !ends(']'))
        value.numbers.push_back(number("a number"));
      const auto width = static_cast<int64_t>(value.numbers.size() - before);
      if (value.form == Form::absent) value.width = width;
      if (value.has_null) fail("expected no null before a list of numbers");
      enter(value, Form::vectors);
      if (width != value.width || width == 0)
        fail(width == 0
                 ? "expected a number in each list before"
                 : fmt::format("expected lists of {} numbers before, as the first one, not {}",
                               value.width, width));
    } else if (next_is_null()) {
      value.has_null = true;
      if (value.form == Form::vectors) fail("expected a list of numbers, not null, before");
      if (value.form == Form::tokens) value.tokens.emplace_back();
      if (value.form == Form::numbers) value.numbers.push_back(nan);
    } else {
      const float n = number("a string, a number, a list of numbers, or null");
      enter(value, Form::numbers);
      value.numbers.push_back(n);
    }
    ++value.size;
  }
  void scan_value(LineValue& value) {
    skip_space();
    if (at_ != end_ && *at_ == '"') {
      value.form = Form::text;
      value.text = string();
    } else if (next_is('[')) {
      for (bool more = !next_is(']'); more; more = !ends(']')) scan_entry(value);
      if (value.form == Form::absent) {  // nulls only
        enter(value, Form::tokens);
        value.numbers.assign(static_cast<size_t>(value.size), nan);
      }
    } else {
      value.numbers.push_back(number("a string, a number or a list"));
      value.form = Form::number;
    }
  }
  void scan_groups() {
    if (!next_is('{'))
      return void(example_.groups.emplace_back("", string("a string or an object")));
    for (bool more = !next_is('}'); more; more = !ends('}')) {
      const std::string_view name = string("the name of a group");
      expect(':', "':' after the name of a group");
      for (const auto& [other, value] : example_.groups)
        if (other == name) fail(fmt::format("{} is repeated before", in_quotes(name)));
      example_.groups.emplace_back(name, string());
    }
  }
  void scan_member() {
    const std::string_view name = string("a key in quotation marks");
    size_t key = 0;
    while (key < std::size(line_keys) && line_keys[key] != name) ++key;
    if (key == std::size(line_keys))
      throw_line_error(origin_, "",
                       fmt::format("there is no key {}; the keys are {}", in_quotes(name),
                                   fmt::join(line_keys, ", ")));
    key_ = line_keys[key];
    if (((seen_ >> key) & 1) != 0) fail("the key is repeated");
    seen_ |= 1U << key;
    expect(':', "':' after the key");
    if (key_ == "source") {
      scan_value(example_.source);
    } else if (key < 3) {
      example_.input_key = line_keys[key].data();
      scan_value(example_.input);
    } else if (key_ == "target") {
      scan_value(example_.target);
    } else if (key_ == "reference") {
      scan_value(example_.reference);
    } else if (key_ == "edges") {
      scan_value(example_.edges);
    } else if (key_ == "global") {
      scan_value(example_.global);
    } else if (key_ == "group") {
      scan_groups();
    } else {
      std::vector<int32_t>& list = key_ == "grid" ? example_.grid : example_.positions;
      list = integers(std::move(list));
    }
    key_ = "";
  }

  static constexpr float nan = std::numeric_limits<float>::quiet_NaN();

  const char *at_, *end_, *start_;
  const LineOrigin& origin_;
  ExampleLine& example_;
  std::string_view key_ = "";  // that is being read
  unsigned seen_ = 0;          // a bit for each key
};

void clear_value(LineValue& value) {
  value.form = Form::absent;
  value.text = {};
  value.tokens.clear();
  value.numbers.clear();
  value.width = value.size = 0;
  value.has_null = false;
}

}  // namespace

void throw_line_error(const LineOrigin& origin, std::string_view key, std::string_view what) {
  throw InputError(
      (origin.path.empty() ? "" : fmt::format("{}: line {}: ", origin.path, origin.number)) +
      (key.empty() ? "" : fmt::format("\"{}\": ", key)) + std::string(what));
}

void parse_example(std::string_view line, const LineOrigin& origin, ExampleLine& example) {
  for (LineValue* value : {&example.input, &example.source, &example.target, &example.reference,
                           &example.edges, &example.global})
    clear_value(*value);
  example.input_key = "";
  example.positions.clear();
  example.grid.clear();
  example.groups.clear();
  example.unescaped.clear();
  LineScanner(line, origin, example).scan();
}

}  // namespace heed
