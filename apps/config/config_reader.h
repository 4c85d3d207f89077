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

 private:
  void visit(const Field& field) override;
  void enter(const char* name, const char* help) override;
  void leave() override;

  using Setting = ConfigValue;
  // Returns the setting of a field of the current section, nullptr if there is none.
  const Setting* find(const char* name);
  // Throw InputError: for a wrong value, which may be an element of the setting's list, and for a
  // key that no field has.
  [[noreturn]] void refuse(const Setting& setting, const TomlValue& value,
                           const std::string& expected) const;
  [[noreturn]] void refuse_unknown(const std::string& key, const Setting& setting) const;
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

  const ConfigSource& source_;
  std::string section_;            // "", "model", "model.init"
  std::string key_;                // of the current field
  std::vector<std::string> keys_;  // of all fields so far, in order
  std::set<std::string> sections_;
  Origins origins_;
};

}  // namespace heed
