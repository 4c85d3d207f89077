// A TOML file as a flat list of keys and values, each with its line and column.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace heed {

struct TomlValue {
  struct Other {  // types that no option uses
    std::string kind;
  };
  std::variant<bool, int64_t, double, std::string, std::vector<TomlValue>, Other> value;
  int line = 0, column = 0;  // from 1
};

// Returns the value for an error message: 1.5, "x", a list, …
std::string describe(const TomlValue& value);

struct TomlEntry {
  // "optim.lr"; "zip[0].seed" in the first [[zip]]. A section without keys is an entry of kind
  // Other.
  std::string key;
  TomlValue value;
  int line = 0, column = 0;  // of the key
};

// Parses a text; the entries are in the order of the file. Throws InputError "file:line:column: …".
std::vector<TomlEntry> parse_toml(std::string_view text, const std::string& file);

// The entries of some sections by the name of the section, such as "axes" or "zip[0]", with keys
// that begin below it; and the other entries.
struct SplitEntries {
  std::map<std::string, std::vector<TomlEntry>> sections;
  std::vector<TomlEntry> others;
};
// Splits off the sections with these names. "zip[" stands for each [[zip]].
SplitEntries split_entries(const std::vector<TomlEntry>& entries,
                           const std::vector<std::string>& names);

// Returns the shortest text that parses to this double. (Strings: string_literal() of core/text.h.)
std::string toml_text(double number);

}  // namespace heed
