// Configs: TOML files into structs of options, with a memory of where every value came from.
//
//   ConfigSource source = ConfigSource::read("configs/reverse.toml");   // with its base, if any
//   source.set("optim.lr=1e-4");                                        // --set
//   Experiment experiment;
//   const Origins origins = source.fill(experiment);                    // through fields()
//
// A key that no field has, a value of another type or out of range is an InputError that names the
// file, the line, the column and what would be valid.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "apps/config/toml.h"
#include "core/fields.h"

namespace heed {

// Where a value comes from.
struct Origin {
  enum class Kind { standard, base, file, command_line };
  Kind kind = Kind::standard;
  std::string file;          // as it was named; on the command line the assignment itself
  int line = 0, column = 0;  // from 1

  std::string place() const;  // "default", "base.toml:3 (base)", "reverse.toml:12", "command line"
  std::string error_prefix() const;  // "reverse.toml:12:5: ", "--set seed=x: "
};
using Origins = std::map<std::string, Origin>;  // by key; values left at their default are absent

class ConfigSource {
 public:
  using Visit = std::function<void(Fields&)>;

  ConfigSource() = default;  // nothing: every value keeps its default
  // Reads a file, and first the file that its key `base` names, seen from its folder, and so on.
  // Throws InputError for what is no TOML, is empty, or inherits from itself.
  static ConfigSource read(const std::string& path);

  // "key=value": the value as TOML, or any other words as a text. Later ones win.
  void set(std::string_view assignment);

  // Gives the fields the values of this source. Relative paths become absolute: seen from the
  // folder of the file that names them, or from the current one on the command line.
  Origins fill_fields(const Visit& visit) const;
  template <class Options>
  Origins fill(Options& options) const {
    return fill_fields([&](Fields& fields) { options.fields(fields); });
  }

 private:
  friend class ConfigReader;
  struct Value {
    TomlValue value;
    Origin origin;      // of the key
    std::string words;  // on the command line: as it was typed
  };
  void read_layer(const std::string& path, std::vector<std::string> chain);

  std::map<std::string, Value> values_;  // by key
};

// The same error with the place of a key that its text names before it, if the config sets one.
// For what several values together make wrong, where the one who complains knows no files.
std::string with_place(const std::string& error, const Origins& origins);

// One value of a config.
struct ConfigEntry {
  std::string key;      // "optim.lr"
  std::string name;     // "lr"
  std::string value;    // as TOML
  std::string type;     // "number", "text", …
  std::string allowed;  // "0 … 1", "sgd, adam, adamw"; "" where anything is
  std::string help;
};
struct ConfigSection {
  std::string name;  // "" for what stands outside of any section
  std::string help;
  std::vector<ConfigEntry> entries;
};
// All values of a struct, in the order of its fields.
using ConfigListing = std::vector<ConfigSection>;
ConfigListing list_fields(const ConfigSource::Visit& visit);
template <class Options>
ConfigListing list_config(Options options) {
  return list_fields([&](Fields& fields) { options.fields(fields); });
}

// A TOML file that gives the same values, each with its help, or with its origin, as a comment.
std::string config_text(const ConfigListing& listing);
std::string config_text(const ConfigListing& listing, const Origins& origins);
// Every key with type, default, range and help: a Markdown table a section.
std::string config_reference(const ConfigListing& defaults);

struct ConfigDifference {
  std::string key, a, b;  // values as TOML; "" where there is no such key
};
std::vector<ConfigDifference> config_differences(const ConfigListing& a, const ConfigListing& b);

}  // namespace heed
