#include "course/commands/course_museum.h"

#include <fmt/format.h>

#include <unistd.h>

#include "apps/commands/command.h"
#include "apps/support/files.h"
#include "apps/support/interrupt.h"
#include "apps/support/json.h"
#include "apps/support/table.h"
#include "apps/support/terminal.h"
#include "core/joined.h"
#include "core/text.h"
#include "course/tutor/chapter_text.h"
#include "course/tutor/formulas.h"
#include "course/tutor/museum_run.h"

namespace heed {
namespace {

Json json_of_piece(const MuseumPiece& piece) {
  return Json::object()
      .set("name", piece.name)
      .set("title", piece.title)
      .set("files", Json(piece.changed_files()));
}

int list_pieces(const std::vector<MuseumPiece>& pieces, bool json) {
  if (json) {
    Json all = Json::array();
    for (const MuseumPiece& piece : pieces) all.push(json_of_piece(piece));
    print(all.text(2) + "\n");
    return exit_done;
  }
  Table table;
  for (const MuseumPiece& piece : pieces)
    table.rows.push_back({piece.name, piece.title, joined(piece.changed_files())});
  print("Mistakes that compile: what each looks like, and how it is found.\n\n");
  print(table.text(3));
  print(
      "\nheed course museum NAME builds heed with one, trains it, and shows it beside heed as it "
      "is\n");
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

int show_piece(const Workshop& workshop, const MuseumPiece& piece, bool json) {
  if (!json) {
    print_escaped(styled(Style::heading, piece.title, STDOUT_FILENO) + "\n\n");
    if (const std::string patch = piece.patch(); !patch.empty())
      print_escaped(shown_patch(patch) + "\n");
    flush_output();
  }
  const InterruptGuard guard;
  const MuseumRun run = run_piece(workshop, piece);
  const std::vector<std::string> surprises = run.surprises();
  if (json) {
    Json all = json_of_piece(piece);
    run.add_to(all);
    print(all.text(2) + "\n");
    return surprises.empty() ? exit_done : exit_failed;
  }
  print(run.text());
  print(formulas_as_text(piece.text()));
  print(fmt::format("\n{:.0f} s; the runs are in {}\n", run.seconds, folder_of(run.right.folder)));
  for (const std::string& line : surprises) print(fmt::format("not as the text says: {}\n", line));
  return surprises.empty() ? exit_done : exit_failed;
}

}  // namespace

int course_museum(const std::string& name, bool json) {
  const Workshop workshop = Workshop::find();
  const std::vector<MuseumPiece> pieces = museum_pieces(workshop);
  if (name.empty()) return list_pieces(pieces, json);
  const MuseumPiece& piece = item_named(name, pieces, "piece of the museum", "heed course museum");
  return show_piece(workshop, piece, json);
}

}  // namespace heed
