#include "apps/config/toml.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "apps/support/numbers.h"
#include "core/check.h"
#include "core/text.h"
#include "data/files.h"

namespace heed {
namespace {

// Rejects text that toml++ cannot handle. It recurses once for each part of a key, so a key with
// 100,000 dots would overflow the stack. Non-ASCII characters outside of strings and comments,
// which are not valid TOML, are undefined behaviour (is_non_ascii_horizontal_whitespace()).
void check_syntax(std::string_view text, const std::string& file) {
  constexpr int max_parts = 16;
  const std::string foreign = foreign_format(text);
  check_input(foreign.empty(), "{}: {}", file, foreign);
  int dots = 0, line = 1;
  char before = '\n';  // the last character that is not blank
  for (size_t i = text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0; i < text.size();
       ++i) {
    const char c = text[i];
    const bool starts_value = std::string_view("=,[{.\n").find(before) != std::string_view::npos;
    if (std::string_view(" \t\r").find(c) == std::string_view::npos) before = c;
    if ((c == '"' || c == '\'') && starts_value) {  // skips the string, of any of the four kinds
      const std::string_view triple(c == '"' ? "\"\"\"" : "'''");
      const std::string_view quote = text.substr(i, 3) == triple ? triple : triple.substr(0, 1);
      for (i += quote.size(); i < text.size() && text.substr(i, quote.size()) != quote; ++i) {
        if (text[i] == '\n') ++line;
        if (text[i] == '\\' && c == '"') ++i;
      }
      i += quote.size() - 1;
      // One or two quotes before the last three belong to the string.
      for (int more = 0; more < 2 && quote.size() == 3 && i + 1 < text.size() && text[i + 1] == c;
           ++more)
        ++i;
    } else if (c == '#') {
      i = std::min(text.find('\n', i), text.size()) - 1;
    } else if (std::string_view("=,[]{}\n").find(c) != std::string_view::npos) {
      dots = 0;
      line += c == '\n';
    } else if (c == '.') {
      check_input(++dots < max_parts, "{}:{}: expected keys of at most {} parts", file, line,
                  int{max_parts});
    } else {
      const size_t length = utf8_length(text.substr(i));
      check_input(length > 0, "{}:{}: not valid UTF-8: convert the file (iconv -t UTF-8)", file,
                  line);
      check_input(length == 1, "{}:{}: expected {} in quotes", file, line,
                  in_quotes(text.substr(i, length), '\''));
    }
  }
}

// If the value at a position is a number that TOML does not accept, returns how to write it, as an
// end of a message; otherwise "".
std::string number_advice(std::string_view text, toml::source_position at) {
  for (toml::source_index line = 1; line < at.line; ++line) text.remove_prefix(text.find('\n') + 1);
  text = text.substr(0, text.find_first_of("#\r\n"));
  const size_t before = text.find_last_of("=,[ \t", std::max<size_t>(at.column, 2) - 2);
  if (before == text.npos) return "";
  const std::string_view rest = text.substr(before + 1);
  const std::string word(rest.substr(0, rest.find_first_of(",] \t")));
  const double number = number_of_text(word).value_or(std::nan(""));
  if (std::isinf(number)) return fmt::format("; {} is too large for a number", word);
  const std::string right = fmt::format("{}", number);
  return std::isnan(number) || word == right ? "" : fmt::format("; write {} as {}", word, right);
}

TomlValue converted(const toml::node& node) {
  TomlValue result;
  result.line = static_cast<int>(node.source().begin.line);
  result.column = static_cast<int>(node.source().begin.column);
  if (const auto* flag = node.as_boolean()) {
    result.value = flag->get();
  } else if (const auto* integer = node.as_integer()) {
    result.value = int64_t{integer->get()};
  } else if (const auto* number = node.as_floating_point()) {
    result.value = number->get();
  } else if (const auto* text = node.as_string()) {
    result.value = text->get();
  } else if (const auto* array = node.as_array()) {
    std::vector<TomlValue> elements;
    for (const toml::node& element : *array) elements.push_back(converted(element));
    result.value = std::move(elements);
  } else {
    result.value = TomlValue::Other{node.is_table() ? "a section" : "a date or time"};
  }
  return result;
}

bool is_bare(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
}

void flatten(const toml::table& table, const std::string& prefix, std::vector<TomlEntry>& entries) {
  for (const auto& [key, node] : table) {
    const bool bare = is_bare(key.str());
    const std::string name = prefix + (bare ? std::string(key.str()) : string_literal(key.str()));
    const toml::array* const sections = node.as_array();
    if (const toml::table* inner = node.as_table(); inner && !inner->empty())
      flatten(*inner, name + ".", entries);
    else if (sections && sections->is_array_of_tables())
      for (size_t i = 0; i < sections->size(); ++i)
        flatten(*sections->get_as<toml::table>(i), fmt::format("{}[{}].", name, i), entries);
    else
      entries.push_back({name, converted(node), static_cast<int>(key.source().begin.line),
                         static_cast<int>(key.source().begin.column)});
  }
}

}  // namespace

std::string describe(const TomlValue& value) {
  struct Describe {
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(int64_t integer) const { return std::to_string(integer); }
    std::string operator()(double number) const { return toml_text(number); }
    std::string operator()(const std::string& text) const { return in_quotes(text); }
    std::string operator()(const std::vector<TomlValue>&) const { return "a list"; }
    std::string operator()(const TomlValue::Other& other) const { return other.kind; }
  };
  return std::visit(Describe{}, value.value);
}

std::vector<TomlEntry> parse_toml(std::string_view text, const std::string& file) {
  check_syntax(text, file);
  std::vector<TomlEntry> entries;
  try {
    flatten(toml::parse(text), "", entries);
  } catch (const toml::parse_error& error) {
    const toml::source_position at = error.source().begin;
    throw InputError(fmt::format("{}:{}:{}: {}{}", file, at.line, at.column,
                                 shortened(error.description(), 200), number_advice(text, at)));
  }
  std::sort(entries.begin(), entries.end(), [](const TomlEntry& a, const TomlEntry& b) {
    return std::tie(a.line, a.column) < std::tie(b.line, b.column);
  });
  return entries;
}

SplitEntries split_entries(const std::vector<TomlEntry>& entries,
                           const std::vector<std::string>& names) {
  SplitEntries split;
  for (TomlEntry entry : entries) {
    const size_t dot = entry.key.find('.');
    const std::string section = entry.key.substr(0, dot);
    const bool splits_off = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return section == name || (name.ends_with('[') && section.starts_with(name));
    });
    const bool is_empty_section =
        dot == entry.key.npos && std::holds_alternative<TomlValue::Other>(entry.value.value);
    if (splits_off && dot != entry.key.npos) {
      entry.key.erase(0, dot + 1);
      split.sections[section].push_back(std::move(entry));
    } else if (!splits_off || !is_empty_section) {
      split.others.push_back(std::move(entry));
    }
  }
  return split;
}

std::string toml_text(double number) {
  const std::string text = fmt::format("{}", number);
  // Without a decimal point it would parse as an integer.
  return text.find_first_not_of("-0123456789") == text.npos ? text + ".0" : text;
}

}  // namespace heed
