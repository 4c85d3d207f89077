// Errors of the library name arguments. Where options come from a config, they name its keys.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <sstream>

#include "apps/config/load_config.h"
#include "apps/training/load_data.h"
#include "temporary.h"

using namespace heed;

namespace {

const std::filesystem::path repository =
    std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();

// Calls f(file, literal) for each string literal in the sources of a folder.
template <class F>
void for_each_literal(const char* folder, const F& f) {
  static const std::regex literal(R"re("(?:[^"\\\n]|\\.)*")re");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(repository / folder)) {
    const std::string file = entry.path().string();
    if (!file.ends_with(".cpp") && !file.ends_with(".h")) continue;
    std::istringstream lines(read_file(file, "source"));
    for (std::string line; std::getline(lines, line);) {
      const size_t start = line.find_first_not_of(' ');
      if (start == line.npos || line[start] == '#' || line.compare(start, 2, "//") == 0) continue;
      for (std::sregex_iterator it(line.begin(), line.end(), literal), end; it != end; ++it)
        f(file, it->str());
    }
  }
}

}  // namespace

TEST_CASE("no text of the library names a key of a config") {
  const std::regex key(R"(\b(train|model|optim|schedule|data)\.[a-z{])");
  int literals = 0;
  for (const char* folder : {"core", "nn", "optim", "data"})
    for_each_literal(folder, [&](const std::string& file, const std::string& literal) {
      ++literals;
      INFO(file);
      INFO(literal);
      CHECK(!std::regex_search(literal, key));
      CHECK(literal.find("--set") == literal.npos);
    });
  CHECK(literals > 1000);
}

TEST_CASE("each argument that a text of the library names is a key of a config") {
  const ConfigListing keys = list_config(Experiment());
  const std::vector<std::pair<const char*, std::vector<const char*>>> sections = {
      {"nn", {"model"}}, {"optim", {"optim", "schedule"}}, {"data", {"data"}}};
  int names = 0;
  for (const auto& [folder, known] : sections)
    for_each_literal(folder, [&, &known = known](const std::string& file, const std::string& text) {
      replace_names(text, [&](const std::string& name) {
        ++names;
        INFO(file, ": ", name);
        CHECK(std::ranges::any_of(known, [&](const char* section) {
          const std::string found = with_keys('`' + name + '`', section);
          return find_entry(keys, found.substr(1, found.size() - 2)) != nullptr;
        }));
        return name;
      });
    });
  CHECK(names > 100);
}

TEST_CASE(
    "an error names arguments where options are set in code, and keys where a config sets them") {
  const auto from_config = [](const std::string& setting) {
    const TemporaryFolder folder;
    write_file(folder / "c.toml", "model.kind = \"seq2seq\"\n" + setting + "\n");
    const std::string text =
        thrown<InputError>([&] { load_data(load_config(folder / "c.toml", {})); });
    return text.substr(text.find("c.toml"));
  };
  ModelOptions model;
  model.heads = 3;
  CHECK(thrown<InputError>([&] {
          model.validate();
        }).starts_with("`heads` = 3 does not divide 64, the width of the model (`dim`, or "));
  CHECK(from_config("model.heads = 3")
            .starts_with("c.toml:2:7: model.heads = 3 does not divide 64, the width of the model "
                         "(model.dim, or "));

  OptimOptions optim;
  optim.momentum = 0.5;
  CHECK(thrown<InputError>([&] { optim.validate(); }) ==
        "`momentum` and `nesterov` are not used by `kind` = \"adamw\", which has `beta1`");
  CHECK(from_config("optim.momentum = 0.5") ==
        "c.toml:2:7: optim.momentum and optim.nesterov are not used by optim.kind = \"adamw\", "
        "which has optim.beta1");

  ScheduleOptions schedule;
  schedule.kind = &schedules::cosine;
  schedule.min_lr = 2;
  CHECK(thrown<InputError>([&] { schedule.validate(1); }) == "`min_lr` = 2 is above `peak` = 1");
  CHECK(from_config("schedule.kind = \"cosine\"\nschedule.min_lr = 2\noptim.lr = 1") ==
        "c.toml:3:10: schedule.min_lr = 2 is above optim.lr = 1");

  const DataOptions shapes{.kind = &data_kinds::shapes};
  CHECK_CONTAINS(thrown<InputError>([&] { check_options(shapes, ModelKind::seq2seq); }),
                 "`kind` = \"shapes\" cannot train `framing` = \"seq2seq\"");
  CHECK_CONTAINS(from_config("data.kind = \"shapes\""),
                 "c.toml:2:6: data.kind = \"shapes\" cannot train model.kind = \"seq2seq\"");
}

TEST_CASE("notes on the data of a config name its keys") {
  const TemporaryFolder folder;
  write_file(folder / "lines.txt", "xy\nxa\nyx\n");
  write_file(folder / "c.toml",
             "model.kind = 'language_model'\n[data]\nkind = 'lines'\npath = 'lines.txt'\n"
             "alphabet = 'xy'\nval_fraction = 0\ntest_fraction = 0\n");
  CHECK(load_data(load_config(folder / "c.toml", {})).notes[0] ==
        "1 lines skipped for a character outside data.alphabet");
}

TEST_CASE("a file's text is not a name: its backquotes stay where no key has the name") {
  CHECK(with_keys("`dim`: `Dim`, `dims`, `heed train`", "model") ==
        "`model.dim`: `Dim`, `dims`, `heed train`");
}
