#include "course/tutor/catalogue.h"

#include <algorithm>
#include <cstdio>

#include "apps/support/files.h"
#include "apps/support/lines.h"
#include "apps/support/shell.h"

namespace heed {

std::string CourseItem::file(const std::string& file_name) const {
  return read_file(in_folder(folder, file_name), "text of the course", 1 << 20);
}

std::string course_text(const Workshop& workshop, const std::vector<std::string>& arguments) {
  std::string command = shell_word(workshop.texts());
  for (const std::string& argument : arguments) command += " " + shell_word(argument);
  FILE* const pipe = ::popen(command.c_str(), "r");
  check(pipe != nullptr, "{}: cannot be started", command);
  std::string text;
  char bytes[4096];
  for (size_t count; (count = std::fread(bytes, 1, sizeof bytes, pipe)) > 0;)
    text.append(bytes, count);
  check(::pclose(pipe) == 0, "{}: it failed", command);
  return text;
}

std::vector<std::string> exercise_names(const Workshop& workshop, bool fast_track) {
  return text_lines(course_text(workshop, {"names", "exercises", fast_track ? "--fast" : ""}));
}

void check_name(const std::string& name, const std::vector<std::string>& names, const char* kind,
                const std::string& list) {
  check_input(std::ranges::find(names, name) != names.end(), "no {} is called {}{}; {} lists them",
              kind, in_quotes(name, '\''), did_you_mean(name, names), list);
}

}  // namespace heed
