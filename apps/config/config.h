// Configs: TOML files read into structs of options, with the origin of each value.
//
//   ConfigSource source = ConfigSource::read("configs/reverse.toml");   // and its base, if any
//   source.set("optim.lr=1e-4");                                        // --set
//   Experiment experiment;
//   const Origins origins = source.fill(experiment);                    // through fields()
//
// Unknown keys, wrong types and values out of range are Mistakes (apps/support/mistakes.h) that
// name the file, the line, the column and the valid values.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "apps/config/toml.h"
#include "core/fields.h"

namespace heed {

// Where a value is set.
struct Origin {
  enum class Kind { standard, base, file, command_line };
  Kind kind = Kind::standard;
  std::string file;          // as the user named it; "--set key=value" for the command line
  int line = 0, column = 0;  // from 1; of --set: which of them, and 0

  std::string location()
      const;  // "default", "base.toml:3 (base)", "reverse.toml:12", "command line"
  std::string error_prefix() const;  // "reverse.toml:12:5: ", "--set seed=x: "
};
using Origins = std::map<std::string, Origin>;  // by key; without keys that keep their default

// A value as it is written, and where.
struct ConfigValue {
  TomlValue value;
  Origin origin;      // of the key
  std::string words;  // on the command line: as typed
};
// Returns the value that an option of the command line, such as "--set optim.lr=1e-3", gives to a
// key: TOML, or else a number such as .5, or else a string.
ConfigValue typed_value(const std::string& words, const std::string& option);

class ConfigSource {
 public:
  using Visit = std::function<void(Fields&)>;

  ConfigSource() = default;  // empty: every value keeps its default
  // Reads a file, after the file that its key `base` names, relative to its folder, and so on.
  // Throws InputError if a file is not TOML, is empty, or inherits from itself.
  // With `inherits` false, the key `base` is an error: no other file is read.
  static ConfigSource read(const std::string& path, bool inherits = true);

  // The entries of a file that was parsed already, without reading other files.
  static ConfigSource of(const std::vector<TomlEntry>& entries, const std::string& file);

  // Sets "key=value". The value is as for typed_value(). Later assignments win.
  void set(std::string_view assignment);
  void set(const std::string& key, ConfigValue value) { values_[key] = std::move(value); }

  // Sets the fields to the values of this source. Paths become absolute: they are relative to the
  // folder of the file that sets them, or to the current folder on the command line.
  Origins fill_fields(const Visit& visit) const;
  template <class Options>
  Origins fill(Options& options) const {
    return fill_fields([&](Fields& fields) { options.fields(fields); });
  }

 private:
  void read_layer(const std::string& path, bool inherits, std::vector<std::string> chain);

  std::map<std::string, ConfigValue> values_;  // by key
  int assignments_ = 0;                        // how often set("key=value") was called
};

// Returns a text with f(name) in place of each name in backquotes, such as `heads`.
std::string replace_names(std::string_view text,
                          const std::function<std::string(const std::string& name)>& f);
// Puts in front of an error where the first of its keys that the config sets is set. Its keys are
// the names in backquotes, which lose them. For checks that do not know which file sets a key.
InputError with_origin(const InputError& error, const Origins& origins);

// The value of a field; of a choice, its word.
using FieldValue = std::variant<bool, int64_t, double, std::string, std::vector<std::string>,
                                std::vector<int64_t>>;

// One value of a config.
struct ConfigEntry {
  std::string section, section_help;  // "optim"; "" for top-level keys
  std::string key;                    // "optim.lr"
  std::string name;                   // "lr"
  FieldValue value;
  std::string type;     // "number", "string", …
  std::string allowed;  // "0 … 1", "sgd, adam, adamw"; "" for any value
  std::string help;
  Field::Effect effect;  // of another value
  // Whether a run may depend on it, with the other values as they are: Fields::when(). False is
  // certain: no value of the key changes such a run.
  bool is_used = true;
  // The values of a run that was resumed with others, each with the step from which on it counts.
  std::vector<std::pair<int64_t, FieldValue>> later = {};

  std::string text() const;              // as TOML: "0.001", or "500, 1000 from step 20"
  std::optional<double> number() const;  // none if it is not one number
  bool has_value_of(const ConfigEntry& other) const {
    return value == other.value && later == other.later;
  }
  bool changes_result() const {  // another value of the key makes another training of it
    return effect == Field::Effect::result || effect == Field::Effect::weights;
  }
};
// Every value of a struct, section by section, in the order of its fields.
using ConfigListing = std::vector<ConfigEntry>;
ConfigListing list_fields(const ConfigSource::Visit& visit);
template <class Options>
ConfigListing list_config(Options options) {
  return list_fields([&](Fields& fields) { options.fields(fields); });
}

// Returns a TOML file with these values, each with its help or its origin as a comment.
std::string config_text(const ConfigListing& listing);
std::string config_text(const ConfigListing& listing, const Origins& origins);
// Returns the documentation of every key, as Markdown: one table for each section.
std::string config_reference(const ConfigListing& defaults);

// Returns the entry of a key; nullptr if there is no such key.
const ConfigEntry* find_entry(const ConfigListing& listing, std::string_view key);
// Returns the value of a key as TOML; "" if there is no such key.
std::string value_of(const ConfigListing& listing, std::string_view key);
// Returns what another value of a key does; `weights` if there is no such key.
Field::Effect effect_of(const ConfigListing& listing, std::string_view key);
// Returns the lines "key = value" of the entries for which counts(entry) holds.
std::string lines_of(const ConfigListing& listing,
                     const std::function<bool(const ConfigEntry& entry)>& counts);

// A key of two listings of one struct whose values differ.
struct ConfigDifference {
  ConfigEntry a, b;
};
// In the order of the keys.
std::vector<ConfigDifference> config_differences(const ConfigListing& a, const ConfigListing& b);
// Returns the values that differ from their defaults: a is the value, b the default.
template <class Options>
std::vector<ConfigDifference> changed_values(const Options& options) {
  return config_differences(list_config(options), list_config(Options()));
}

}  // namespace heed
