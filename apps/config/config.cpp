#include "apps/config/config.h"

#include <climits>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "apps/support/files.h"
#include "apps/support/numbers.h"
#include "core/check.h"
#include "core/text.h"

namespace heed {

constexpr int64_t max_config_bytes = 1 << 20;
constexpr size_t max_bases = 20;
constexpr const char* name_characters = "abcdefghijklmnopqrstuvwxyz0123456789_.";

static bool is_control(char c) { return static_cast<uint8_t>(c) < 0x20 || c == 0x7F; }

// Parses the right side of --set as TOML, or else as a number, or else takes it as a string.
static TomlValue parse_assigned(const std::string& words, const std::string& option) {
  check_input(std::none_of(words.begin(), words.end(), is_control),
              "{}: expected a value without control characters", option);
  TomlValue text;
  text.value = words;
  if (words.empty()) return text;
  try {
    const std::vector<TomlEntry> entries = parse_toml("value = " + words, option);
    if (entries.size() == 1 && entries[0].key == "value") return entries[0].value;
  } catch (const InputError& error) {
    if (std::string_view("[{\"'").find(words[0]) != std::string_view::npos)
      throw InputError(fmt::format("{}: expected a value of TOML", option));
    parse_toml("value = " + string_literal(words), option);  // throws if it is not UTF-8
    const std::optional<double> number = number_of_text(words);
    if (number && std::isfinite(*number)) text.value = *number;  // .5 and 1. are not TOML
  }
  return text;
}

std::string Origin::location() const {
  switch (kind) {
    case Kind::standard:
      return "default";
    case Kind::base:
      return fmt::format("{}:{} (base)", shortened(file, PATH_MAX), line);
    case Kind::file:
      return fmt::format("{}:{}", shortened(file, PATH_MAX), line);
    case Kind::command_line:
      return "command line";
  }
  return "";
}

std::string Origin::error_prefix() const {
  if (kind == Kind::standard) return "";
  return kind == Kind::command_line ? file + ": " : fmt::format("{}:{}:{}: ", file, line, column);
}

ConfigSource ConfigSource::read(const std::string& path, bool inherits) {
  ConfigSource source;
  source.read_layer(path, inherits, {});
  return source;
}

void ConfigSource::read_layer(const std::string& path, bool inherits,
                              std::vector<std::string> chain) {
  const std::string text = read_file(path, "config", max_config_bytes);
  check_input(!text.empty(), "{}: empty; `heed config --reference` lists the keys of a config",
              path);
  const std::vector<TomlEntry> entries = parse_toml(text, path);
  const Origin::Kind kind = chain.empty() ? Origin::Kind::file : Origin::Kind::base;
  chain.push_back(absolute_path(path, "."));

  for (const TomlEntry& entry : entries) {
    if (entry.key != "base") continue;
    const Origin origin{kind, path, entry.line, entry.column};
    check_input(inherits,
                "{}base: the config of a run must hold every value itself; remove this line",
                origin.error_prefix());
    const std::string* base = std::get_if<std::string>(&entry.value.value);
    check_input(base && !base->empty() && base->size() < PATH_MAX,
                "{}base: expected the path of a config", origin.error_prefix());
    const std::string base_path = sibling(path, *base);
    check_input(std::find(chain.begin(), chain.end(), absolute_path(base_path, ".")) == chain.end(),
                "{}base = {} inherits from itself", origin.error_prefix(), in_quotes(*base));
    check_input(chain.size() <= max_bases, "{}base: expected at most {} bases in a row",
                origin.error_prefix(), max_bases);
    read_layer(base_path, inherits, chain);
  }
  for (const TomlEntry& entry : entries)
    if (entry.key != "base")
      values_[entry.key] = {entry.value, {kind, path, entry.line, entry.column}, ""};
}

ConfigSource ConfigSource::of(const std::vector<TomlEntry>& entries, const std::string& file) {
  ConfigSource source;
  for (const TomlEntry& entry : entries)
    source.values_[entry.key] = {
        entry.value, {Origin::Kind::file, file, entry.line, entry.column}, ""};
  return source;
}

ConfigValue typed_value(const std::string& words, const std::string& option) {
  return {parse_assigned(words, option), {Origin::Kind::command_line, option, 0, 0}, words};
}

void ConfigSource::set(std::string_view assignment) {
  const size_t equals = assignment.find('=');
  const std::string option = fmt::format("--set {}", shortened(assignment));
  check_input(equals != assignment.npos && equals > 0,
              "{}: expected a key and a value, such as --set optim.lr=0.001", option);
  const std::string key(assignment.substr(0, equals)), words(assignment.substr(equals + 1));
  values_[key] = typed_value(words, option);
  values_[key].origin.line = ++assignments_;
}

std::string replace_names(std::string_view text,
                          const std::function<std::string(const std::string& name)>& f) {
  std::string replaced;
  for (;;) {
    const size_t open = text.find('`');
    const size_t close =
        open == text.npos ? open : text.find_first_not_of(name_characters, open + 1);
    if (close == text.npos) return replaced.append(text);
    const bool is_name = close > open + 1 && text[close] == '`';
    replaced += text.substr(0, is_name ? open : close);
    if (is_name) replaced += f(std::string(text.substr(open + 1, close - open - 1)));
    text.remove_prefix(is_name ? close + 1 : close);
  }
}

InputError with_origin(const InputError& error, const Origins& origins) {
  std::string prefix;
  const std::string text = replace_names(error.what(), [&](const std::string& name) {
    const auto set = origins.find(name);
    if (prefix.empty() && set != origins.end()) prefix = set->second.error_prefix();
    return name;
  });
  return InputError(prefix + text);
}

}  // namespace heed
