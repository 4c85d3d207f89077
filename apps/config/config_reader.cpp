#include "apps/config/config_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/support/files.h"
#include "apps/support/suggest.h"
#include "core/check.h"
#include "core/joined.h"

namespace heed {
namespace {

std::string section_of(const std::string& key) {
  const size_t dot = key.rfind('.');
  return dot == key.npos ? "" : key.substr(0, dot);
}

std::string wanted_number(const char* kind, Range range) {
  const std::string text = range_text(range);
  return text.empty() ? kind : fmt::format("{}, {}", kind, text);
}

}  // namespace

std::string range_text(Range range) {
  if (std::isfinite(range.least) && std::isfinite(range.most))
    return fmt::format("{} … {}", range.least, range.most);
  if (std::isfinite(range.least)) return fmt::format("≥ {}", range.least);
  return std::isfinite(range.most) ? fmt::format("≤ {}", range.most) : "";
}

Origins ConfigReader::finish() const {
  for (const auto& [key, given] : source_.values_) {
    const bool empty_section =
        sections_.contains(key) && std::holds_alternative<TomlValue::Other>(given.value.value);
    if (!empty_section && std::find(keys_.begin(), keys_.end(), key) == keys_.end())
      refuse_unknown(key, given);
  }
  return origins_;
}

void ConfigReader::refuse_unknown(const std::string& key, const Given& given) const {
  const std::string prefix = given.origin.error_prefix();
  if (sections_.contains(key))
    throw InputError(fmt::format("{}{} is a section, not a value", prefix, key));
  const std::string section = section_of(key);
  if (std::find(keys_.begin(), keys_.end(), section) != keys_.end())
    throw InputError(fmt::format("{}{} is a value, not a section", prefix, section));

  std::string message = fmt::format("{}unknown key '{}'", prefix, key);
  const std::string meant = nearest(key, keys_);
  if (!meant.empty()) message += fmt::format("; did you mean '{}'?", meant);
  std::string valid;
  const bool known_section = section.empty() || sections_.contains(section);
  for (const std::string& known : keys_)
    if (known_section && section_of(known) == section)
      valid += (valid.empty() ? "" : ", ") + known.substr(section.empty() ? 0 : section.size() + 1);
  if (section.empty() || !known_section)
    for (const std::string& known : sections_)
      if (section_of(known).empty())
        valid += fmt::format("{}[{}]", valid.empty() ? "" : ", ", known);
  const std::string where = known_section && !section.empty() ? "[" + section + "]" : "a config";
  throw InputError(fmt::format("{}{} {} has {}", message, meant.empty() ? ";" : "", where, valid));
}

const ConfigReader::Given* ConfigReader::given(const char* name) {
  key_ = section_.empty() ? name : section_ + "." + name;
  keys_.push_back(key_);
  const auto place = source_.values_.find(key_);
  if (place == source_.values_.end()) return nullptr;
  origins_[key_] = place->second.origin;
  return &place->second;
}

void ConfigReader::refuse(const Given& given, const TomlValue& value,
                          const std::string& wanted) const {
  Origin origin = given.origin;
  if (origin.kind != Origin::Kind::command_line) {
    origin.line = value.line;
    origin.column = value.column;
  }
  throw InputError(
      fmt::format("{}{} must be {}, not {}", origin.error_prefix(), key_, wanted, describe(value)));
}

int64_t ConfigReader::integer_of(const Given& given, const TomlValue& value, Range range) const {
  const int64_t* integer = std::get_if<int64_t>(&value.value);
  const bool fits = integer && static_cast<double>(*integer) >= range.least &&
                    static_cast<double>(*integer) <= range.most;
  if (!fits) refuse(given, value, wanted_number("a whole number", range));
  return *integer;
}

// On the command line 7 may be meant as a text.
std::string ConfigReader::text_of(const Given& given, const TomlValue& value) const {
  if (const std::string* text = std::get_if<std::string>(&value.value)) return *text;
  if (given.origin.kind != Origin::Kind::command_line || &value != &given.value)
    refuse(given, value, "a text in quotes");
  return given.words;
}

std::vector<std::string> ConfigReader::texts_of(const Given& given) const {
  std::vector<std::string> texts;
  const auto* elements = std::get_if<std::vector<TomlValue>>(&given.value.value);
  if (!elements) return {text_of(given, given.value)};  // a list of one
  for (const TomlValue& element : *elements) texts.push_back(text_of(given, element));
  return texts;
}

void ConfigReader::flag(const char* name, bool& value, const char*) {
  const Given* from = given(name);
  if (!from) return;
  const bool* flag = std::get_if<bool>(&from->value.value);
  if (!flag) refuse(*from, from->value, "true or false");
  value = *flag;
}

void ConfigReader::integer(const char* name, int64_t& value, Range range, const char*) {
  if (const Given* from = given(name)) value = integer_of(*from, from->value, range);
}

void ConfigReader::number(const char* name, double& value, Range range, const char*) {
  const Given* from = given(name);
  if (!from) return;
  const TomlValue& given_value = from->value;
  double number = std::nan("");
  if (const int64_t* integer = std::get_if<int64_t>(&given_value.value))
    number = static_cast<double>(*integer);
  else if (const double* exact = std::get_if<double>(&given_value.value))
    number = *exact;
  if (!std::isfinite(number) || number < range.least || number > range.most)
    refuse(*from, given_value, wanted_number("a number", range));
  value = number;
}

void ConfigReader::text(const char* name, std::string& value, const char*) {
  if (const Given* from = given(name)) value = text_of(*from, from->value);
}

void ConfigReader::path(const char* name, std::string& value, const char*) {
  const Given* from = given(name);
  if (!from) return;
  const bool typed = from->origin.kind == Origin::Kind::command_line;
  value = text_of(*from, from->value);
  if (!value.empty()) value = absolute_path(value, typed ? "." : folder_of(from->origin.file));
}

void ConfigReader::texts(const char* name, std::vector<std::string>& values, const char*) {
  if (const Given* from = given(name)) values = texts_of(*from);
}

void ConfigReader::paths(const char* name, std::vector<std::string>& values, const char*) {
  const Given* from = given(name);
  if (!from) return;
  const bool typed = from->origin.kind == Origin::Kind::command_line;
  values = texts_of(*from);
  for (std::string& value : values)
    value = absolute_path(value, typed ? "." : folder_of(from->origin.file));
}

void ConfigReader::integers(const char* name, std::vector<int64_t>& values, Range range,
                            const char*) {
  const Given* from = given(name);
  if (!from) return;
  const auto* elements = std::get_if<std::vector<TomlValue>>(&from->value.value);
  if (!elements) refuse(*from, from->value, "a list of whole numbers, such as [1, 2]");
  values.clear();
  for (const TomlValue& element : *elements) values.push_back(integer_of(*from, element, range));
}

void ConfigReader::choose(const char* name, int& index, std::span<const char* const> words,
                          const char*) {
  const Given* from = given(name);
  if (!from) return;
  const bool* flag =
      std::get_if<bool>(&from->value.value);  // a choice may have true among its words
  const std::string word = flag ? describe(from->value) : text_of(*from, from->value);
  const auto place = std::find(words.begin(), words.end(), word);
  if (place == words.end()) {
    const std::string meant = nearest(word, {words.begin(), words.end()});
    refuse(*from, from->value,
           fmt::format("one of {}{}", joined(words),
                       meant.empty() ? "" : fmt::format(" (did you mean '{}'?)", meant)));
  }
  index = static_cast<int>(place - words.begin());
}

void ConfigReader::enter(const char* name, const char*) {
  section_ = section_.empty() ? name : section_ + "." + name;
  sections_.insert(section_);
}

void ConfigReader::leave() { section_ = section_of(section_); }

}  // namespace heed
