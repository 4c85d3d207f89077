#include "apps/program.h"

#include <algorithm>
#include <new>

#include "apps/commands/command_line.h"
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

}  // namespace

int run_program(Commands commands, int argc, char** argv) {
  try {
    const int result = run_command_line(commands, argc, argv);
    flush_output();
    return result;
  } catch (const InputError& error) {
    logging::hide_progress();
    logging::error("{}", in_one_line(error.what()));
    return exit_misused;
  } catch (const std::bad_alloc&) {
    logging::hide_progress();
    logging::error("out of memory; `heed summary` tells how much a config needs");
    return exit_failed;
  } catch (const std::exception& error) {
    logging::hide_progress();
    logging::error("{}", in_one_line(error.what()));
    return exit_failed;
  }
}

}  // namespace heed
