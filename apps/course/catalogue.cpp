#include "apps/course/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "apps/course/chapter_text.h"
#include "apps/support/files.h"
#include "apps/support/suggest.h"
#include "core/check.h"
#include "core/text.h"

namespace heed {
namespace {

constexpr int64_t most_text_bytes = 1 << 20;

// The number before the first " minute" of the text; 0 if there is none.
int64_t minutes_in(const std::string& text) {
  const size_t end = text.find(" minute");
  if (end == std::string::npos) return 0;
  size_t first = end;
  while (first > 0 && std::isdigit(static_cast<unsigned char>(text[first - 1]))) --first;
  int64_t minutes = 0;
  for (size_t i = first; i < std::min(end, first + 6); ++i) minutes = 10 * minutes + text[i] - '0';
  return minutes;
}

Exercise read_exercise(const std::string& folder, const std::string& name) {
  Exercise exercise;
  exercise.name = name;
  exercise.folder = folder;
  const std::string task = exercise.text("task.md"), head = task.substr(0, 500);
  exercise.title = heading_of(task);
  exercise.minutes = minutes_in(head);
  exercise.fast_track = head.find("On the fast track") != std::string::npos;
  return exercise;
}

}  // namespace

std::string Exercise::text(const std::string& file) const {
  return read_file(in_folder(folder, file), "text of an exercise", most_text_bytes);
}

std::vector<std::string> Exercise::hints() const {
  std::vector<std::string> all;
  std::string rest = text("hints.md");
  constexpr std::string_view separator = "\n---\n";
  for (size_t end; (end = rest.find(separator)) != std::string::npos;) {
    all.push_back(rest.substr(0, end + 1));
    rest.erase(0, end + separator.size());
  }
  all.push_back(rest);
  return all;
}

Catalogue::Catalogue(const std::string& chapters, const std::string& exercises) {
  std::vector<Exercise> rest;
  for (const std::string& name : names_in_folder(exercises))
    if (const std::string folder = in_folder(exercises, name); exists(in_folder(folder, "task.md")))
      rest.push_back(read_exercise(folder, name));
  for (const std::string& text : chapter_texts(chapters)) {
    for (const std::string& name : names_after("heed course start ", text)) {
      const auto found =
          std::find_if(rest.begin(), rest.end(), [&](const Exercise& e) { return e.name == name; });
      if (found == rest.end()) continue;
      exercises_.push_back(*found);
      exercises_.back().chapter = heading_of(text);
      rest.erase(found);
    }
  }
  exercises_.insert(exercises_.end(), rest.begin(), rest.end());
}

const Exercise& Catalogue::at(const std::string& name) const {
  std::vector<std::string> names;
  for (const Exercise& exercise : exercises_) {
    if (exercise.name == name) return exercise;
    names.push_back(exercise.name);
  }
  throw InputError(fmt::format("no exercise is called {}{}; heed course lists them",
                               in_quotes(name, '\''), did_you_mean(name, names)));
}

}  // namespace heed
