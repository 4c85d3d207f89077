// Reads tests/fixtures/optim.txt (see make_optim.py beside it).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/fields.h"

namespace heed::inline HEED_REAL {

// Sets fields from text, and removes from the map those that it has set.
class FieldSetter : public Fields {
 public:
  explicit FieldSetter(std::map<std::string, std::string>& options) : options_(options) {}
  void flag(const char* name, bool& value, const char* help) override;
  void integer(const char* name, int64_t& value, Range range, const char* help) override;
  void number(const char* name, double& value, Range range, const char* help) override;
  void text(const char*, std::string&, const char*) override {}
  void path(const char*, std::string&, const char*) override {}
  void texts(const char*, std::vector<std::string>&, const char*) override {}
  void paths(const char*, std::vector<std::string>&, const char*) override {}
  void integers(const char*, std::vector<int64_t>&, Range, const char*) override {}

 protected:
  void choose(const char* name, int& index, std::span<const char* const> words,
              const char* help) override;
  void enter(const char*, const char*) override {}
  void leave() override {}

 private:
  bool take(const char* name, std::string& text);
  std::map<std::string, std::string>& options_;
};

struct Case {
  std::string name;
  std::map<std::string, std::string> options;
  std::vector<std::vector<double>> rows;

  double take(const std::string& key);  // removes and returns a value that is not a field
};

// All cases of a kind ("trajectory" or "schedule").
std::vector<Case> read_cases(const std::string& kind);

}  // namespace heed::inline HEED_REAL
