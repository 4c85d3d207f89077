#include "optim/fixture.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

namespace heed::inline HEED_REAL {

bool FieldSetter::take(const char* name, std::string& text) {
  const auto found = options_.find(name);
  if (found == options_.end()) return false;
  text = found->second;
  options_.erase(found);
  return true;
}

void FieldSetter::flag(const char* name, bool& value, const char*) {
  if (std::string text; take(name, text)) value = text == "1";
}

void FieldSetter::integer(const char* name, int64_t& value, Range, const char*) {
  if (std::string text; take(name, text)) value = std::stoll(text);
}

void FieldSetter::number(const char* name, double& value, Range range, const char*) {
  if (std::string text; take(name, text)) value = std::stod(text);
  CHECK((range.least <= value && value <= range.most));
}

void FieldSetter::choose(const char* name, int& index, std::span<const char* const> words,
                         const char*) {
  std::string text;
  if (!take(name, text)) return;
  const auto found = std::find(words.begin(), words.end(), text);
  REQUIRE(found != words.end());
  index = static_cast<int>(found - words.begin());
}

double Case::take(const std::string& key) {
  const double value = std::stod(options.at(key));
  options.erase(key);
  return value;
}

std::vector<Case> read_cases(const std::string& kind) {
  std::ifstream file(std::filesystem::path(__FILE__).parent_path().parent_path() / "fixtures" /
                     "optim.txt");
  REQUIRE(file);
  std::vector<Case> cases;
  bool matches = false;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == "#") continue;
    if (word == "trajectory" || word == "schedule") {
      matches = word == kind;
      if (!matches) continue;
      Case& next = cases.emplace_back();
      words >> next.name;
      for (std::string key, value; words >> key >> value;) next.options[key] = value;
    } else if (matches) {
      std::vector<double>& row = cases.back().rows.emplace_back();
      do row.push_back(std::strtod(word.c_str(), nullptr));
      while (words >> word);
    }
  }
  return cases;
}

}  // namespace heed::inline HEED_REAL
