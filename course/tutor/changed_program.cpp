#include "course/tutor/changed_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "apps/support/files.h"
#include "apps/support/lines.h"
#include "apps/support/shell.h"
#include "core/check.h"
#include "core/text.h"
#include "course/tutor/limited_process.h"

namespace heed {
namespace {

constexpr ProcessLimits build_limits{
    .seconds = 300, .file_bytes = int64_t{1} << 30, .output = 1 << 22};

// Runs a line of a shell and returns what it prints.
std::string run_shell(const std::string& line, const std::string& folder, const char* failure,
                      const std::vector<std::string>& environment = {}) {
  const EndedProcess ended =
      run_limited({"/bin/sh", "-c", line}, folder, environment, build_limits);
  const bool lacks_command = ended.end == EndedProcess::End::exited && ended.code == 127;
  check_input(!lacks_command, "{} is not installed; heed needs it to build the change",
              line.substr(0, line.find(' ')));
  check(ended.end == EndedProcess::End::exited && ended.code == 0, "{}:\n{}", failure,
        escaped(ended.output.substr(0, 4000)));
  return ended.output;
}

// The commands of ninja that build the program, one a line.
class BuildCommands {
 public:
  explicit BuildCommands(const Workshop& workshop) : workshop_(workshop) {
    check_input(exists(in_folder(workshop.build, "build.ninja")),
                "{}: expected a build by ninja; ./heed course museum makes one", workshop.build);
    lines_ = text_lines(run_shell("ninja -t commands bin/heed", workshop.build,
                                  "ninja does not say how the program is built"));
  }

  // What is compiled that contains a source file: the file itself, or in a unity build one that
  // includes it.
  std::string unit_of(const std::string& file) const {
    for (const std::string& line : lines_) {
      const std::string unit = source_in(line);
      if (unit == file) return unit;
      if (unit.ends_with(".cxx") && contents(unit).find(include_of(file)) != std::string::npos)
        return unit;
    }
    throw Error(fmt::format("{}: not a part of the program", file));
  }

  // The command that compiles a unit, with another source and another object.
  std::string compile(const std::string& unit, const std::string& source,
                      const std::string& object) const {
    const auto found = std::ranges::find_if(
        lines_, [&](const std::string& line) { return source_in(line) == unit; });
    const std::string options =
        found->substr(0, std::min(found->find(" -MD "), found->find(" -o ")));
    return fmt::format("{} -o {} -c {}", options, shell_word(object), shell_word(source));
  }

  // The command that links the program, with another output and more objects.
  std::string link(const std::string& program, const std::string& objects) const {
    constexpr std::string_view output = " -o bin/heed ";
    std::string line = lines_.empty() ? "" : lines_.back();
    const size_t at = line.find(output);
    check(at != std::string::npos, "{}: ninja does not say how the program is linked",
          workshop_.build);
    return line.replace(at, output.size(), fmt::format("{} -o {} ", objects, shell_word(program)));
  }

  std::string contents(const std::string& unit) const { return read_file(unit, "source", 1 << 22); }
  static std::string include_of(const std::string& file) {
    return fmt::format("#include \"{}\"", file);
  }

 private:
  // The path after -c, absolute; "" if the line compiles nothing.
  std::string source_in(const std::string& line) const {
    constexpr std::string_view words = " -c ";
    const size_t at = line.rfind(words);
    if (at == std::string::npos) return "";
    std::string path = line.substr(at + words.size());
    std::erase_if(path, [](char c) { return c == '"' || c == '\\'; });  // quotes of the shell
    return absolute_path(path, workshop_.build);
  }

  const Workshop& workshop_;
  std::vector<std::string> lines_;
};

// Copies the files that change into a folder, and changes them.
void apply_patch(const Workshop& workshop, const SourceChange& change, const std::string& folder) {
  for (const std::string& file : change.files) {
    check(file.ends_with(".cpp"), "{}: only .cpp files can be changed", file);
    const std::string copy = in_folder(folder, file);
    make_folders(folder_of(copy));
    write_file(copy, read_file(in_folder(workshop.sources, file), "source", 1 << 22));
  }
  const std::string patch = in_folder(folder, "change.patch");
  write_file(patch, change.patch);
  // The folder is in no repository, as far as git should know.
  run_shell("git apply " + shell_word(patch), folder, "the change does not fit the sources",
            {"GIT_CEILING_DIRECTORIES=" + folder_of(folder)});
}

}  // namespace

void build_changed_program(const Workshop& workshop, const SourceChange& change,
                           const std::string& folder) {
  const std::string copies = in_folder(folder, "sources");
  apply_patch(workshop, change, copies);

  const BuildCommands commands(workshop);
  std::map<std::string, std::vector<std::string>> units;
  for (const std::string& file : change.files)
    units[commands.unit_of(in_folder(workshop.sources, file))].push_back(file);
  std::string objects;
  for (const auto& [unit, files] : units) {
    const std::string object = in_folder(folder, fmt::format("unit_{}.o", objects.size()));
    std::string source = in_folder(copies, files[0]);
    if (unit != in_folder(workshop.sources, files[0])) {
      std::string text = commands.contents(unit);
      for (const std::string& file : files) {
        const std::string old = BuildCommands::include_of(in_folder(workshop.sources, file));
        text.replace(text.find(old), old.size(),
                     BuildCommands::include_of(in_folder(copies, file)));
      }
      source = in_folder(folder, name_of(unit));
      write_file(source, text);
    }
    run_shell(commands.compile(unit, source, object), workshop.build,
              "the change does not compile");
    objects += " " + shell_word(object);
  }
  run_shell(commands.link(in_folder(folder, "heed"), objects), workshop.build,
            "the changed program cannot be linked");
}

}  // namespace heed
