#include "course/tutor/progress.h"

#include <fmt/format.h>

#include "apps/support/files.h"
#include "apps/support/json.h"
#include "apps/support/log.h"
#include "apps/support/numbers.h"
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

std::string own_answers_folder(const std::string& sources,
                               const std::vector<std::string>& exercises) {
  const std::string old_folder = in_folder(sources, "course"),
                    folder = in_folder(sources, "answers");
  std::vector<std::string> names = {"progress.json"};
  for (const std::string& exercise : exercises)
    for (const char* ending : {".cpp", ".cpp.old"}) names.push_back(exercise + ending);
  int64_t moved = 0;
  for (const std::string& name : names) {
    const std::string from = in_folder(old_folder, name), to = in_folder(folder, name);
    if (kind_of(from) == FileKind::none) continue;
    if (kind_of(to) != FileKind::none) {
      logging::warning("{} is left from an earlier version of heed, and {} exists; remove one",
                       from, to);
      continue;
    }
    make_folders(folder);
    rename_in_folder(from, to);
    ++moved;
  }
  if (moved > 0)
    logging::info("answers are now in {}: moved {} there from {}", folder, counted(moved, "file"),
                  old_folder);
  return folder;
}

}  // namespace heed
