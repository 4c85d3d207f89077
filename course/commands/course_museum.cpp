#include "course/commands/course_museum.h"

#include <fmt/format.h>

#include <algorithm>
#include <unistd.h>

#include "apps/commands/command.h"
#include "apps/support/files.h"
#include "apps/support/interrupt.h"
#include "apps/support/json.h"
#include "apps/support/lines.h"
#include "apps/support/shell.h"
#include "apps/support/table.h"
#include "apps/support/terminal.h"
#include "core/joined.h"
#include "core/text.h"
#include "course/tutor/museum_run.h"

namespace heed {
namespace {

Json json_of_exhibit(const Exhibit& exhibit) {
  return Json::object()
      .set("name", exhibit.name)
      .set("title", exhibit.title)
      .set("files", Json(exhibit.changed_files()));
}

int list_exhibits(const std::vector<Exhibit>& exhibits, bool json) {
  if (json) {
    Json all = Json::array();
    for (const Exhibit& exhibit : exhibits) all.push(json_of_exhibit(exhibit));
    print(all.text(2) + "\n");
    return exit_done;
  }
  Table table;
  for (const Exhibit& exhibit : exhibits)
    table.rows.push_back({exhibit.name, exhibit.title, joined(exhibit.changed_files())});
  print("Mistakes that compile: what you see of each, and how you find it.\n\n");
  print(table.text(3));
  print(fmt::format(
      "\n{} builds heed with a mistake, trains with and without it, and shows both side by side\n",
      heed_command({"course", "museum", "NAME"})));
  return exit_done;
}

// The diff, with what is removed and added in colours.
std::string shown_patch(const std::string& patch) {
  std::string text;
  for (const std::string& line : text_lines(patch)) {
    const bool removed = line.starts_with('-'), added = line.starts_with('+');
    text += "    ";
    text += removed || added ? styled(removed ? Style::good : Style::bad, line, STDOUT_FILENO)
                             : escaped(line);
    text += '\n';
  }
  return text;
}

int show_exhibit(const Workshop& workshop, const Exhibit& exhibit, bool json) {
  if (!json) {
    print_escaped(styled(Style::heading, exhibit.title, STDOUT_FILENO) + "\n\n");
    if (const std::string patch = exhibit.patch(); !patch.empty())
      print_escaped(shown_patch(patch) + "\n");
    flush_output();
  }
  const InterruptGuard guard;
  const MuseumResult run = run_exhibit(workshop, exhibit);
  const std::vector<std::string> surprises = run.surprises();
  if (json) {
    Json all = json_of_exhibit(exhibit);
    run.add_to(all);
    print(all.text(2) + "\n");
    return surprises.empty() ? exit_done : exit_failed;
  }
  print(run.text());
  const std::string text =
      course_text(workshop, {"shown", in_folder(exhibit.folder, "exhibit.md")});
  print(text.substr(text.find("\n\n") + 2));
  print(fmt::format("\n{:.0f} s; the runs are in {}\n", run.seconds, folder_of(run.right.folder)));
  for (const std::string& line : surprises) print(fmt::format("not as the text says: {}\n", line));
  return surprises.empty() ? exit_done : exit_failed;
}

}  // namespace

int course_museum(const std::string& name, bool json) {
  const Workshop workshop = Workshop::find();
  const std::vector<Exhibit> exhibits = museum_exhibits(workshop);
  if (name.empty()) return list_exhibits(exhibits, json);
  std::vector<std::string> names;
  for (const Exhibit& exhibit : exhibits) names.push_back(exhibit.name);
  check_name(name, names, "exhibit of the museum", heed_command({"course", "museum"}));
  return show_exhibit(workshop, *std::ranges::find(exhibits, name, &Exhibit::name), json);
}

}  // namespace heed
