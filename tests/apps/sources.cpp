// docs/sources.md: the table is complete, its commands train, its files and tests exist, and the
// chapters teach what they are named for.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>

#include "apps/training/load_data.h"
#include "apps/training/trainer.h"
#include "temporary.h"

using namespace heed;

namespace {

const std::string root =
    std::filesystem::path(__FILE__).parent_path().parent_path().parent_path().string() + "/";

struct Row {
  std::string id, text;
};

// Returns the table rows whose first cell is an id such as A1 or Q1, or a section such as S0 2.
std::vector<Row> rows_of_table(bool of_sections = false) {
  std::istringstream file(read_file(root + "docs/sources.md", "document"));
  std::vector<Row> rows;
  for (std::string line; std::getline(file, line);)
    if (of_sections ? line.starts_with("| S") : line.starts_with("| A") || line.starts_with("| Q"))
      rows.push_back({line.substr(2, line.find(' ', 2) - 2), line});
  return rows;
}

// Returns the texts between pairs of `mark`.
std::vector<std::string> marked(const std::string& text, char mark) {
  std::vector<std::string> found;
  for (size_t first = text.find(mark); first != text.npos; first = text.find(mark, first)) {
    const size_t last = text.find(mark, first + 1);
    if (last == text.npos) break;
    found.push_back(text.substr(first + 1, last - first - 1));
    first = last + 1;
  }
  return found;
}

constexpr std::string_view train = "heed train ";

// Runs five steps of `heed train CONFIG --set key=value …`.
void train_five_steps(const std::string& command) {
  CAPTURE(command);
  std::istringstream words(command.substr(train.size()));
  std::string config, word;
  words >> config;
  std::vector<std::string> assignments;
  while (words >> word) {
    REQUIRE(word == "--set");
    words >> word;
    std::erase(word, '\'');  // for the shell
    assignments.push_back(word);
  }
  assignments.emplace_back("train.steps=5");
  const LoadedConfig loaded = load_config(root + config, assignments);
  const Corpus corpus = load_data(loaded);
  Trainer trainer(loaded.experiment, corpus);
  const auto weights = [&] {
    std::vector<real> all;
    for (const NamedParameter& p : trainer.model().parameters())
      all.insert(all.end(), p.tensor.values().begin(), p.tensor.values().end());
    return all;
  };
  const std::vector<real> before = weights();
  for (int step = 0; step < 5; ++step) CHECK(std::isfinite(trainer.step().loss));
  CHECK(weights() != before);
}

// Returns the training commands of a row. A cell has a command, or a command and the settings to
// train it with: `heed train a.toml`, `--set k=v`, `=w`, `--set l=u` are four commands.
std::vector<std::string> commands_of(const Row& row) {
  std::vector<std::string> commands;
  std::string command, settings;
  for (const std::string& text : marked(row.text, '`')) {
    if (text.starts_with(train)) {
      command = text;
      settings = "";
    } else if (text.starts_with("--set ")) {
      settings = " " + text;
    } else if (text.starts_with("=")) {
      REQUIRE_MESSAGE(!settings.empty(), text);
      settings.replace(settings.rfind('='), settings.npos, text);
    } else {
      continue;
    }
    REQUIRE_MESSAGE(!command.empty(), text);
    commands.push_back(command + settings);
  }
  return commands;
}

}  // namespace

TEST_CASE("sources: the table has every row") {
  std::vector<std::string> expected, actual;
  for (int i = 1; i <= 52; ++i) expected.push_back("A" + std::to_string(i));
  for (int i = 1; i <= 19; ++i) expected.push_back("Q" + std::to_string(i));
  for (const Row& row : rows_of_table()) actual.push_back(row.id);
  CHECK(actual == expected);
}

TEST_CASE("sources: every training command in the table runs") {
  std::set<std::string> commands;
  for (const bool of_sections : {false, true})
    for (const Row& row : rows_of_table(of_sections))
      for (const std::string& command : commands_of(row)) commands.insert(command);
  for (const std::string& command : commands) train_five_steps(command);
  CHECK(commands.size() >= 80);
}

// Cells name files as `core/ops.h`, and a test as `tests/nn/attention.cpp` "name".
TEST_CASE("sources: every file and test in the table exists") {
  for (const Row& row : rows_of_table()) {
    CAPTURE(row.id);
    std::string file;
    for (const std::string& text : marked(row.text, '`')) {
      const bool is_path = text.find('/') != text.npos && text.find(' ') == text.npos;
      if (is_path) CHECK_MESSAGE(std::filesystem::exists(root + text), text);
    }
    const size_t tests = row.text.find("`tests/");
    REQUIRE_MESSAGE(tests != row.text.npos, "the row names no test");
    const std::string cell = row.text.substr(tests);
    const std::string source = read_file(root + marked(cell, '`').at(0), "test");
    const std::vector<std::string> names = marked(cell, '"');
    CHECK(!names.empty());
    for (const std::string& name : names)
      CHECK_MESSAGE(source.find("\"" + name) != source.npos, name);
  }
}

// tests/docs/run.sh checks that the heading exists.
TEST_CASE("sources: the last cell of every row links to a heading of the chapter that teaches it") {
  const std::regex link(R"(\[(\d+)\]\(\.\./course/0?\1_\w+\.md#[\w-]+\) \|$)");
  for (const Row& row : rows_of_table()) {
    CAPTURE(row.id);
    CHECK_MESSAGE(std::regex_search(row.text, link), "the row names no heading of a chapter");
  }
}
