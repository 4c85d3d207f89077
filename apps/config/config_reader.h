// The Fields that gives a struct the values of a config.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "apps/config/config.h"

namespace heed {

class ConfigReader : public Fields {
 public:
  explicit ConfigReader(const ConfigSource& source) : source_(source) {}
  // Where each value came from. Throws InputError if the source has keys that no field asked for.
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
  using Given = ConfigSource::Value;
  // What the source has for this field of the section at hand: nullptr if nothing.
  const Given* given(const char* name);
  [[noreturn]] void refuse(const Given& given, const TomlValue& value,
                           const std::string& wanted) const;
  [[noreturn]] void refuse_unknown(const std::string& key, const Given& given) const;
  int64_t integer_of(const Given& given, const TomlValue& value, Range range) const;
  std::string text_of(const Given& given, const TomlValue& value) const;
  std::vector<std::string> texts_of(const Given& given) const;

  const ConfigSource& source_;
  std::string section_;            // "", "model", "model.init"
  std::string key_;                // of the field at hand
  std::vector<std::string> keys_;  // of all fields seen, in order
  std::set<std::string> sections_;
  Origins origins_;
};

// "0 … 1", "≥ 0", or "" for any number.
std::string range_text(Range range);

}  // namespace heed
