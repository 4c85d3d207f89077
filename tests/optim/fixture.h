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

 private:
  void visit(const Field& field) override;
  void enter(const char*, const char*) override {}
  void leave() override {}

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
