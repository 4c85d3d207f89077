#include "course/tutor/workshop.h"

#include "apps/support/files.h"
#include "apps/support/json.h"
#include "apps/support/machine.h"
#include "core/check.h"

namespace heed {

Workshop Workshop::find() {
  const std::string build = folder_of(folder_of(program_path())),
                    file = in_folder(build, "course/settings.json");
  check_input(exists(file),
              "heed course needs heed's sources: get them, and call ./heed course in their folder");
  const Json settings = read_json(file, "settings", 1 << 20);
  Workshop found;
  found.build = build;
  found.sources = settings.at("sources").string();
  found.compiler = settings.at("compiler").string();
  found.compile = settings.at("compile").strings();
  found.link = settings.at("link").strings();
  found.training = settings.at("training").string();
  found.needed = settings.at("needed").strings();
  check_input(is_folder(found.exercises()), "{}: no such folder; are the sources complete?",
              found.exercises());
  return found;
}

std::string Workshop::chapters() const { return in_folder(sources, "course"); }
std::string Workshop::exercises() const { return in_folder(sources, "course/exercises"); }
std::string Workshop::museum() const { return in_folder(sources, "course/museum"); }
std::string Workshop::texts() const { return in_folder(sources, "course/tutor/course.sh"); }

void Workshop::check_built() const {
  for (const std::string& file : needed)
    check_input(exists(file),
                "{}: not built; ./heed course check builds it, or ninja -C {} heed_graders", file,
                build);
}

}  // namespace heed
