#include "apps/program.h"

#include <algorithm>
#include <new>

#include "apps/commands/command_line.h"
#include "apps/ranks/join.h"
#include "apps/support/log.h"
#include "apps/support/output.h"
#include "core/check.h"
#include "core/text.h"

namespace heed {
namespace {

// Returns the text on one line, shortened. The limit leaves room for the longest path.
std::string in_one_line(std::string text) {
  constexpr size_t most = 5000;
  std::replace(text.begin(), text.end(), '\n', ' ');
  return shortened(text, most);
}

// Prints the error, and ends the other ranks. Returns the exit code.
int failed(int code, const std::string& error) {
  if (Ranks::current) abort_ranks(*Ranks::current, code, error);
  logging::hide_progress();
  logging::error("{}", error);
  return code;
}

}  // namespace

int run_program(const ProgramCommands& commands, int argc, char** argv) {
  std::unique_ptr<Ranks> ranks;
  try {
    ranks = join_ranks();
    Ranks::current = ranks.get();
    const int result = run_command_line(commands, argc, argv);
    flush_output();
    return result;
  } catch (const OutputClosed&) {
    if (ranks) abort_ranks(*ranks, exit_closed, "nobody reads standard output");
    return exit_closed;
  } catch (const InputError& error) {
    return failed(exit_misused, in_one_line(error.what()));
  } catch (const std::bad_alloc&) {
    return failed(exit_failed, "out of memory; `heed summary` tells how much a config needs");
  } catch (const std::exception& error) {
    return failed(exit_failed, in_one_line(error.what()));
  }
}

}  // namespace heed
