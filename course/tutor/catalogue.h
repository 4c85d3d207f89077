// What belongs to the chapters of the course: exercises, and the exhibits of the museum. Each is a
// folder of texts.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/check.h"
#include "core/suggest.h"
#include "core/text.h"
#include "course/tutor/workshop.h"

namespace heed {

struct CourseItem {
  std::string name;     // "layer-norm", that of its folder
  std::string title;    // the heading of its text
  std::string folder;   // course/exercises/NAME
  std::string chapter;  // the heading of the chapter that names it; empty if none does

  // A file of the folder: task.md and so on.
  std::string file(const std::string& file_name) const;
  // The same for a terminal: a link [name](path) is "name (path)", relative to the sources.
  std::string shown(const std::string& file_name) const;
};

// Where the items of a kind are.
struct CourseFolder {
  std::string chapters, items;
  const char* file;          // that each item has: "task.md"
  std::string_view name_of;  // what stands before an item's name in a chapter: "heed course start "
};

// Returns the items in the order in which the chapters name them. Those that none names come last.
std::vector<CourseItem> items_in(const CourseFolder& folder);

struct Exercise : CourseItem {
  explicit Exercise(const CourseItem& item);
  int64_t minutes;  // 0: its task.md does not say
  bool fast_track;

  std::vector<std::string> hints() const;
};

std::vector<Exercise> course_exercises(const Workshop& workshop);

// Throws InputError, with the closest name, if there is no such item. `list` is the command that
// lists those of this kind.
template <class Item>
const Item& item_named(const std::string& name, const std::vector<Item>& items, const char* kind,
                       const std::string& list) {
  std::vector<std::string> names;
  for (const Item& item : items) {
    if (item.name == name) return item;
    names.push_back(item.name);
  }
  throw InputError(fmt::format("no {} is called {}{}; {} lists them", kind, in_quotes(name, '\''),
                               did_you_mean(name, names), list));
}

}  // namespace heed
