#include "apps/course/museum.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "apps/config/config.h"
#include "apps/course/chapter_text.h"
#include "apps/support/files.h"
#include "apps/support/suggest.h"
#include "core/check.h"
#include "core/text.h"

namespace heed {
namespace {

constexpr int64_t most_piece_bytes = 1 << 18;

std::string file_of_piece(const MuseumPiece& piece, const char* file) {
  return read_file(in_folder(piece.folder, file), "file of a piece of the museum",
                   most_piece_bytes);
}

// The entries of each [[expect]], in order, and the others.
struct ExperimentEntries {
  std::map<std::string, std::vector<TomlEntry>> expectations;
  std::vector<TomlEntry> others;
};

ExperimentEntries split_experiment(const std::vector<TomlEntry>& entries) {
  ExperimentEntries split;
  for (TomlEntry entry : entries) {
    const size_t dot = entry.key.find("].");
    if (!entry.key.starts_with("expect[") || dot == std::string::npos) {
      split.others.push_back(std::move(entry));
      continue;
    }
    const std::string section = entry.key.substr(0, dot + 1);
    entry.key.erase(0, dot + 2);
    split.expectations[section].push_back(std::move(entry));
  }
  return split;
}

}  // namespace

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

std::string MuseumPiece::text() const {
  const std::string all = file_of_piece(*this, "piece.md");
  const size_t end = all.find('\n');
  return end == std::string::npos ? "" : all.substr(all.find_first_not_of('\n', end));
}

std::string MuseumPiece::patch() const {
  return exists(in_folder(folder, "change.patch")) ? file_of_piece(*this, "change.patch") : "";
}

std::vector<std::string> MuseumPiece::changed_files() const {
  constexpr std::string_view words = "\n+++ b/";
  std::vector<std::string> files;
  const std::string changes = "\n" + patch();
  for (size_t at = changes.find(words); at != std::string::npos; at = changes.find(words, at)) {
    at += words.size();
    files.push_back(changes.substr(at, changes.find_first_of("\t\n", at) - at));
  }
  return files;
}

MuseumExperiment MuseumPiece::experiment() const {
  const std::string file = in_folder(folder, "experiment.toml");
  const ExperimentEntries entries =
      split_experiment(parse_toml(file_of_piece(*this, "experiment.toml"), file));
  MuseumExperiment experiment;
  ConfigSource::of(entries.others, file).fill(experiment);
  for (size_t i = 0; i < entries.expectations.size(); ++i) {
    const auto found = entries.expectations.find(fmt::format("expect[{}]", i));
    check_input(found != entries.expectations.end(), "{}: [[expect]] {} is empty", file, i + 1);
    Expectation expectation;
    ConfigSource::of(found->second, file).fill(expectation);
    int kinds = 0;
    for (const auto* kind :
         {&expectation.value, &expectation.after, &expectation.right_text, &expectation.wrong_text})
      kinds += kind->empty() ? 0 : 1;
    check_input(kinds == 1,
                "{}:{}: an [[expect]] needs one of value, after, right_text and wrong_text", file,
                found->second.front().line);
    experiment.expect.push_back(expectation);
  }
  return experiment;
}

std::vector<MuseumPiece> museum_pieces(const std::string& chapters, const std::string& museum) {
  std::vector<MuseumPiece> rest, pieces;
  for (const std::string& name : names_in_folder(museum)) {
    MuseumPiece piece{name, "", in_folder(museum, name)};
    if (!exists(in_folder(piece.folder, "piece.md"))) continue;
    piece.title = heading_of(file_of_piece(piece, "piece.md"));
    rest.push_back(std::move(piece));
  }
  for (const std::string& text : chapter_texts(chapters))
    for (const std::string& name : names_after("heed course museum ", text)) {
      const auto found = std::ranges::find(rest, name, &MuseumPiece::name);
      if (found == rest.end()) continue;
      pieces.push_back(std::move(*found));
      rest.erase(found);
    }
  pieces.insert(pieces.end(), rest.begin(), rest.end());
  return pieces;
}

const MuseumPiece& museum_piece(const std::vector<MuseumPiece>& pieces, const std::string& name) {
  std::vector<std::string> names;
  for (const MuseumPiece& piece : pieces) {
    if (piece.name == name) return piece;
    names.push_back(piece.name);
  }
  throw InputError(
      fmt::format("no piece of the museum is called {}{}; heed course museum lists them",
                  in_quotes(name, '\''), did_you_mean(name, names)));
}

}  // namespace heed
