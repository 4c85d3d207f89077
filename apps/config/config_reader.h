// Reads the values of a config into a struct of options, through its fields().
#pragma once

#include <set>
#include <string>
#include <vector>

#include "apps/config/config.h"

namespace heed {

class ConfigReader : public Fields {
 public:
  explicit ConfigReader(const ConfigSource& source) : source_(source) {}
  // Returns the origins of the values. Throws InputError if the source has keys that no field has.
  Origins finish() const;

  void flag(const char* name, bool& value, const char* help) override;
  void integer(const char* name, int64_t& value, Range range, const char* help) override;
  void number(const char* name, double& value, Range range, const char* help) override;
  void text(const char* name, std::string& value, const char* help) override;
  void path(const char* name, std::string& value, const char* help) override;
  void texts(const char* name, std::vector<std::string>& values, const char* help) override;
  void paths(const char* name, std::vector<std::string>& values, const char* help) override;
  void integers(const char* name, std::vector<int64_t>& values, Range range,
                const char* help) override;

 protected:
  void choose(const char* name, int& index, std::span<const char* const> words,
              const char* help) override;
  void enter(const char* name, const char* help) override;
  void leave() override;

 private:
  using Setting = ConfigValue;
  // Returns the setting of a field of the current section, nullptr if there is none.
  const Setting* find(const char* name);
  // Throw InputError: for a wrong value, which may be an element of the setting's list, and for a
  // key that no field has.
  [[noreturn]] void refuse(const Setting& setting, const TomlValue& value,
                           const std::string& expected) const;
  [[noreturn]] void refuse_unknown(const std::string& key, const Setting& setting) const;
  int64_t integer_of(const Setting& setting, const TomlValue& value, Range range) const;
  std::string text_of(const Setting& setting, const TomlValue& value) const;
  std::vector<std::string> texts_of(const Setting& setting) const;
  std::string path_of(const Setting& setting, const std::string& text) const;

  const ConfigSource& source_;
  std::string section_;            // "", "model", "model.init"
  std::string key_;                // of the current field
  std::vector<std::string> keys_;  // of all fields so far, in order
  std::set<std::string> sections_;
  Origins origins_;
};

// Returns "0 … 1", "≥ 0", or "" for any number.
std::string range_text(Range range);

}  // namespace heed
