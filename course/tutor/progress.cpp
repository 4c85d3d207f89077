#include "course/tutor/progress.h"

#include <fmt/format.h>

#include "apps/support/files.h"
#include "apps/support/json.h"
#include "core/check.h"

namespace heed {

Progress::Progress(const std::string& folder) : file_(in_folder(folder, "progress.json")) {
  if (!exists(file_)) return;
  try {
    const Json json = read_json(file_, "progress", 1 << 20);
    current = json.at("current").string();
    for (const auto& [name, exercise] : json.at("exercises").members())
      exercises_[name] = {exercise.at("passed").flag(), exercise.at("hints").integer()};
  } catch (const InputError& error) {
    throw InputError(fmt::format(
        "{}: the record of your progress is damaged ({}); remove it, and check your answers again",
        file_, error.what()));
  }
}

const ExerciseProgress& Progress::of(const std::string& exercise) const {
  static const ExerciseProgress none;
  const auto found = exercises_.find(exercise);
  return found == exercises_.end() ? none : found->second;
}

void Progress::save() const {
  Json all = Json::object();
  for (const auto& [name, exercise] : exercises_) {
    Json one = Json::object();
    one.set("passed", exercise.passed).set("hints", exercise.hints);
    all.set(name, one);
  }
  Json json = Json::object();
  json.set("current", current).set("exercises", all);
  make_folders(folder_of(file_));
  write_file(file_, json.text(2) + "\n");
}

}  // namespace heed
