// A TOML file as a flat list of keys with values, each with the place where it stands.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace heed {

struct TomlValue {
  struct Other {  // what no option is made of
    std::string kind;
  };
  std::variant<bool, int64_t, double, std::string, std::vector<TomlValue>, Other> value;
  int line = 0, column = 0;  // from 1
};

// For a message: a number, the text "x", a list, …
std::string describe(const TomlValue& value);

struct TomlEntry {
  std::string key;  // "optim.lr"; a section without keys is an entry of kind Other
  TomlValue value;
  int line = 0, column = 0;  // of the key
};

// In the order of the file. Throws InputError "file:line:column: …".
std::vector<TomlEntry> parse_toml(std::string_view text, const std::string& file);

// A string as TOML: in quotes, escaped. A double: the shortest text that gives it back.
std::string toml_text(std::string_view text);
std::string toml_text(double number);

}  // namespace heed
