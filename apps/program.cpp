#include "apps/program.h"

#include <algorithm>
#include <cstdio>
#include <new>

#include "apps/commands/command_line.h"
#include "apps/commands/commands.h"
#include "apps/support/log.h"
#include "apps/support/suggest.h"
#include "core/check.h"

namespace heed {
namespace {

std::string in_one_line(std::string text) {
  for (char& c : text)
    if (c == '\n') c = ' ';
  return text;
}

void check_verb(const std::string& word) {
  const std::vector<std::string> known = verbs();
  if (word.starts_with('-') || std::find(known.begin(), known.end(), word) != known.end()) return;
  const std::string meant = nearest(word, known);
  std::string list;
  for (const std::string& verb : known) list += (list.empty() ? "" : ", ") + verb;
  throw InputError("no verb '" + word + "'" +
                   (meant.empty() ? "" : "; did you mean " + meant + "?") + "; there are " + list);
}

}  // namespace

int run_program(int argc, char** argv) {
  int result = commands::exit_failed;
  try {
    if (argc > 1) check_verb(argv[1]);
    result = run_verb(argc, argv);
  } catch (const InputError& error) {
    logging::hide_progress();
    logging::error("{}", in_one_line(error.what()));
    return commands::exit_misused;
  } catch (const std::bad_alloc&) {
    logging::hide_progress();
    logging::error("out of memory; `heed summary` tells how much a config needs");
    return commands::exit_failed;
  } catch (const std::exception& error) {
    logging::hide_progress();
    logging::error("{}", in_one_line(error.what()));
    return commands::exit_failed;
  }
  if (std::fflush(stdout) == 0) return result;
  logging::error("standard output: cannot write; is the disk full?");
  return commands::exit_failed;
}

}  // namespace heed
