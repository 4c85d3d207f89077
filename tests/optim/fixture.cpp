#include "optim/fixture.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace heed::inline HEED_REAL {

void FieldSetter::visit(const Field& field) {
  const auto found = options_.find(field.name);
  if (found == options_.end()) return;
  const std::string text = found->second;
  options_.erase(found);
  if (bool* const* flag = std::get_if<bool*>(&field.value)) **flag = text == "1";
  if (int64_t* const* integer = std::get_if<int64_t*>(&field.value)) **integer = std::stoll(text);
  if (double* const* number = std::get_if<double*>(&field.value)) {
    **number = std::stod(text);
    CHECK((field.range.least <= **number && **number <= field.range.most));
  }
  if (const auto* choice = std::get_if<Field::Choice>(&field.value)) {
    const auto word = std::find(choice->words.begin(), choice->words.end(), text);
    REQUIRE(word != choice->words.end());
    *choice->index = static_cast<int>(word - choice->words.begin());
  }
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
