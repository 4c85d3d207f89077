#include "course/tutor/museum.h"

#include "apps/support/files.h"
#include "apps/support/lines.h"
#include "core/check.h"
#include "core/joined.h"
#include "course/tutor/sections.h"

namespace heed {

constexpr Named<std::string Expectation::*> expectation_kinds[] = {
    {"value", &Expectation::value},
    {"after", &Expectation::after},
    {"right_text", &Expectation::right_text},
    {"wrong_text", &Expectation::wrong_text}};

static void check_kind(const Expectation& expectation, const std::string& path, int line) {
  std::vector<std::string> names;
  int kinds = 0;
  for (const auto& [name, member] : expectation_kinds) {
    names.emplace_back(name);
    kinds += (expectation.*member).empty() ? 0 : 1;
  }
  check_input(kinds == 1, "{}:{}: an [[expect]] needs one of {}", path, line, joined(names));
}

void Expectation::fields(Fields& f) {
  f.text("value", value, "last number of metrics.jsonl, or number of result.json");
  f.text("after", after, "text that a number is printed after");
  f.text("right_text", right_text, "text that is printed only without the mistake");
  f.text("wrong_text", wrong_text, "text that is printed only with the mistake");
  f.number("right_min", right_min, {}, "minimum of the number without the mistake");
  f.number("right_max", right_max, {}, "maximum of the number without the mistake");
  f.number("wrong_min", wrong_min, {}, "minimum of the number with the mistake");
  f.number("wrong_max", wrong_max, {}, "maximum of the number with the mistake");
}

void MuseumExperiment::fields(Fields& f) {
  f.text("train", train, "config that is trained");
  f.texts("set", set, "assignments to its keys");
  f.texts("set_wrong", set_wrong, "assignments to its keys with the mistake");
  f.texts("curves", curves, "numbers of metrics.jsonl that are shown by step");
  f.texts("show", show, "lines for a shell");
}

std::string Exhibit::text() const {
  const std::string all = file("exhibit.md");
  const size_t end = all.find('\n');
  return end == std::string::npos ? "" : all.substr(all.find_first_not_of('\n', end));
}

std::string Exhibit::patch() const {
  return exists(in_folder(folder, "change.patch")) ? file("change.patch") : "";
}

std::vector<std::string> Exhibit::changed_files() const {
  constexpr std::string_view start = "+++ b/";
  std::vector<std::string> files;
  for (const std::string& line : text_lines(patch()))
    if (line.starts_with(start))
      files.push_back(line.substr(start.size(), line.find('\t') - start.size()));
  return files;
}

MuseumExperiment Exhibit::experiment() const {
  const std::string path = in_folder(folder, "experiment.toml");
  MuseumExperiment experiment;
  fill_sections(
      file("experiment.toml"), path, "expect", experiment, experiment.expect,
      [&](const Expectation& expectation, int line) { check_kind(expectation, path, line); });
  return experiment;
}

std::vector<Exhibit> museum_exhibits(const Workshop& workshop) {
  std::vector<Exhibit> exhibits;
  for (const std::string& name : text_lines(course_text(workshop, {"names", "museum"}))) {
    Exhibit exhibit{{name, "", in_folder(workshop.museum(), name)}};
    const std::string text = exhibit.file("exhibit.md");  // "# Title\n…"
    exhibit.title = text.substr(2, text.find('\n') - 2);
    exhibits.push_back(std::move(exhibit));
  }
  return exhibits;
}

}  // namespace heed
