#include <climits>
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "apps/config/config.h"
#include "apps/config/named_run.h"
#include "apps/config/other_names.h"
#include "apps/support/files.h"
#include "apps/support/mistakes.h"
#include "apps/support/numbers.h"
#include "core/check.h"
#include "core/joined.h"
#include "core/suggest.h"
#include "core/text.h"

namespace heed {
namespace {

std::string section_of(const std::string& key) {
  const size_t dot = key.rfind('.');
  return dot == key.npos ? "" : key.substr(0, dot);
}

// Reads the values of a config into a struct of options, through its fields().
class ConfigReader : public Fields {
 public:
  explicit ConfigReader(const std::map<std::string, ConfigValue>& values) : values_(values) {}
  // Returns the origins of the values. Throws Mistakes for wrong values and for keys that no field
  // has: the first ten, in the order of the file.
  Origins finish();

 private:
  void visit(const Field& field) override;
  void enter(const char* name, const char* help) override;
  void leave() override;

  using Setting = ConfigValue;
  // Returns the setting of a field of the current section, nullptr if there is none.
  const Setting* find(const char* name);
  // Throws InputError for a wrong value, which may be an element of the setting's list.
  [[noreturn]] void refuse(const Setting& setting, const TomlValue& value,
                           const std::string& expected) const;
  // Returns what is wrong with a key that no field has. Lists the keys of a section once.
  std::string unknown_key(const std::string& key, const Setting& setting);
  // Sets the value of a field.
  void read(const Setting& setting, const Field& field, bool* to) const;
  void read(const Setting& setting, const Field& field, int64_t* to) const;
  void read(const Setting& setting, const Field& field, double* to) const;
  void read(const Setting& setting, const Field& field, std::string* to) const;
  void read(const Setting& setting, const Field& field, std::vector<std::string>* to) const;
  void read(const Setting& setting, const Field& field, std::vector<int64_t>* to) const;
  void read(const Setting& setting, const Field& field, const Field::Choice& to) const;

  int64_t integer_of(const Setting& setting, const TomlValue& value, Range range) const;
  std::string text_of(const Setting& setting, const TomlValue& value) const;
  std::string path_of(const Setting& setting, const std::string& text) const;
  // Returns the folder at which a relative path starts.
  static std::string folder_of_setting(const Setting& setting) {
    const bool typed = setting.origin.kind == Origin::Kind::command_line;
    const std::string folder = absolute_path(typed ? "." : folder_of(setting.origin.file), ".");
    return folder.size() > 1 && folder.back() == '/' ? folder.substr(0, folder.size() - 1) : folder;
  }

  const std::map<std::string, ConfigValue>& values_;  // by key
  std::string section_;                               // "", "model", "model.init"
  std::string key_;                                   // of the current field
  std::vector<std::string> keys_;                     // of all fields so far, in order
  std::set<std::string> sections_, listed_;  // all so far; those whose keys a mistake has listed
  Origins origins_;
  std::vector<std::pair<Origin, std::string>> mistakes_;
};

Origins ConfigReader::finish() {
  constexpr size_t most = 10;
  for (const auto& [key, setting] : values_) {
    const bool empty_section =
        sections_.contains(key) && std::holds_alternative<TomlValue::Other>(setting.value.value);
    if (!empty_section && std::find(keys_.begin(), keys_.end(), key) == keys_.end())
      mistakes_.emplace_back(setting.origin, key);
  }
  if (mistakes_.empty()) return origins_;
  std::ranges::stable_sort(mistakes_, [](const auto& a, const auto& b) {
    const auto place = [](const Origin& o) {
      const bool typed = o.kind == Origin::Kind::command_line;
      return std::tuple(o.kind, typed ? "" : o.file, o.line, o.column);
    };
    return place(a.first) < place(b.first);
  });
  mistakes_.resize(std::min(mistakes_.size(), most));
  std::vector<std::string> texts;
  for (const auto& [origin, text] : mistakes_) {
    const auto unknown = values_.find(text);
    texts.push_back(unknown == values_.end() ? text : unknown_key(text, unknown->second));
  }
  throw Mistakes(std::move(texts));
}

std::string ConfigReader::unknown_key(const std::string& key, const Setting& setting) {
  const std::string prefix = setting.origin.error_prefix();
  const std::string list = key.substr(0, key.find('['));  // [[part]] is a list of sections
  if (sections_.contains(list))
    return fmt::format("{}{}: expected a section, found a value", prefix, list);
  const std::string section = section_of(key);
  if (std::find(keys_.begin(), keys_.end(), section) != keys_.end())
    return fmt::format("{}{}: expected a value, found a section", prefix, section);

  const std::string message = fmt::format("{}unknown key {}", prefix, in_quotes(key, '\''));
  const std::string other = key_of_other_name(last_component(key));
  const bool is_key = std::find(keys_.begin(), keys_.end(), other) != keys_.end();
  const std::string suggestion =
      is_key ? fmt::format("; did you mean '{}'?", other) : did_you_mean(key, keys_);
  const bool known_section = section.empty() || sections_.contains(section);
  if (!listed_.insert(known_section ? section : "[").second) return message + suggestion;
  std::string valid;
  for (const std::string& known : keys_)
    if (known_section && section_of(known) == section)
      valid += (valid.empty() ? "" : ", ") + known.substr(section.empty() ? 0 : section.size() + 1);
  if (section.empty() || !known_section)
    for (const std::string& known : sections_)
      if (section_of(known).empty())
        valid += fmt::format("{}[{}]", valid.empty() ? "" : ", ", known);
  const std::string where = known_section && !section.empty() ? "[" + section + "]" : "a config";
  return fmt::format("{}{} {} has {}", message, suggestion.empty() ? ";" : suggestion, where,
                     valid);
}

const ConfigReader::Setting* ConfigReader::find(const char* name) {
  key_ = section_.empty() ? name : section_ + "." + name;
  keys_.push_back(key_);
  const auto found = values_.find(key_);
  if (found == values_.end()) return nullptr;
  origins_[key_] = found->second.origin;
  return &found->second;
}

void ConfigReader::refuse(const Setting& setting, const TomlValue& value,
                          const std::string& expected) const {
  Origin origin = setting.origin;
  if (origin.kind != Origin::Kind::command_line) {
    origin.line = value.line;
    origin.column = value.column;
  }
  throw InputError(fmt::format("{}{}: expected {}, found {}", origin.error_prefix(), key_, expected,
                               describe(value)));
}

int64_t ConfigReader::integer_of(const Setting& setting, const TomlValue& value,
                                 Range range) const {
  const int64_t* integer = std::get_if<int64_t>(&value.value);
  if (!integer || !range.contains(static_cast<double>(*integer)))
    refuse(setting, value, expected_number("an integer", range));
  return *integer;
}

// On the command line a number such as 7 may be meant as a string.
std::string ConfigReader::text_of(const Setting& setting, const TomlValue& value) const {
  if (const std::string* text = std::get_if<std::string>(&value.value)) return *text;
  if (setting.origin.kind != Origin::Kind::command_line || &value != &setting.value)
    refuse(setting, value, "a string in quotes");
  return setting.words;
}

std::string ConfigReader::path_of(const Setting& setting, const std::string& text) const {
  if (text.empty()) refuse(setting, setting.value, "paths that are not empty");
  const std::string path = named_run(absolute_path(text, folder_of_setting(setting)));
  if (path.size() >= PATH_MAX)
    refuse(setting, setting.value, fmt::format("paths of less than {} bytes", PATH_MAX));
  return path;
}

void ConfigReader::visit(const Field& field) {
  const Setting* const setting = find(field.name);
  if (!setting) return;
  try {
    std::visit([&](const auto& to) { read(*setting, field, to); }, field.value);
    if (field.folder) *field.folder = folder_of_setting(*setting);
  } catch (const InputError& error) {
    mistakes_.emplace_back(setting->origin, error.what());
  }
}

void ConfigReader::read(const Setting& setting, const Field&, bool* to) const {
  const bool* flag = std::get_if<bool>(&setting.value.value);
  if (!flag) refuse(setting, setting.value, "true or false");
  *to = *flag;
}

void ConfigReader::read(const Setting& setting, const Field& field, int64_t* to) const {
  *to = integer_of(setting, setting.value, field.range);
}

void ConfigReader::read(const Setting& setting, const Field& field, double* to) const {
  double number = std::nan("");
  if (const int64_t* integer = std::get_if<int64_t>(&setting.value.value))
    number = static_cast<double>(*integer);
  else if (const double* exact = std::get_if<double>(&setting.value.value))
    number = *exact;
  else if (const auto* text = std::get_if<std::string>(&setting.value.value);
           text && std::isinf(number_of_text(*text).value_or(0)))
    refuse(setting, setting.value, "a number that is not too large");
  if (!field.range.contains(number))
    refuse(setting, setting.value, expected_number("a number", field.range));
  *to = number;
}

void ConfigReader::read(const Setting& setting, const Field& field, std::string* to) const {
  *to = text_of(setting, setting.value);
  if (field.is_path && !to->empty()) *to = path_of(setting, *to);
}

void ConfigReader::read(const Setting& setting, const Field& field,
                        std::vector<std::string>* to) const {
  to->clear();
  if (const auto* elements = std::get_if<std::vector<TomlValue>>(&setting.value.value))
    for (const TomlValue& element : *elements) to->push_back(text_of(setting, element));
  else
    to->push_back(text_of(setting, setting.value));  // a list of one element
  if (field.is_path)
    for (std::string& path : *to) path = path_of(setting, path);
}

void ConfigReader::read(const Setting& setting, const Field& field,
                        std::vector<int64_t>* to) const {
  const auto* elements = std::get_if<std::vector<TomlValue>>(&setting.value.value);
  if (!elements) refuse(setting, setting.value, "a list of integers, such as [1, 2]");
  to->clear();
  for (const TomlValue& element : *elements)
    to->push_back(integer_of(setting, element, field.range));
}

void ConfigReader::read(const Setting& setting, const Field&, const Field::Choice& to) const {
  // A choice may have the word "true".
  const bool* flag = std::get_if<bool>(&setting.value.value);
  const std::string word = flag ? describe(setting.value) : text_of(setting, setting.value);
  const auto found = std::find(to.words.begin(), to.words.end(), word);
  if (found == to.words.end()) {
    const std::string suggestion = nearest(word, {to.words.begin(), to.words.end()});
    refuse(setting, setting.value,
           fmt::format("one of {}{}", joined(to.words),
                       suggestion.empty() ? "" : fmt::format(" (did you mean '{}'?)", suggestion)));
  }
  *to.index = static_cast<int>(found - to.words.begin());
}

void ConfigReader::enter(const char* name, const char*) {
  section_ = section_.empty() ? name : section_ + "." + name;
  sections_.insert(section_);
}

void ConfigReader::leave() { section_ = section_of(section_); }

}  // namespace

Origins ConfigSource::fill_fields(const Visit& visit) const {
  ConfigReader reader(values_);
  visit(reader);
  return reader.finish();
}

}  // namespace heed
