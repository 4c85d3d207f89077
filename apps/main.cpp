#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <new>
#include <signal.h>
#include <string>
#include <unistd.h>

#include "apps/commands/command_line.h"
#include "apps/ranks/join.h"
#include "apps/support/log.h"
#include "apps/support/machine.h"
#include "apps/support/mistakes.h"
#include "apps/support/terminal.h"
#include "core/check.h"
#include "core/processors.h"
#include "core/text.h"

namespace heed {
namespace {

// Limits how long OpenMP threads spin while they wait. The default of milliseconds makes steps ten
// times slower if other programs run. Without spinning, small steps take twice as long on an idle
// machine. libgomp has no function for the limit. Its constructor reads the environment that the
// program was started with, before any code of ours can change it: not even .preinit_array does,
// because the C library restores that environment. So the program restarts itself once.
void limit_thread_spinning(char** argv) {
  if (std::getenv("OMP_WAIT_POLICY") || std::getenv("GOMP_SPINCOUNT")) return;
  std::string program;
  try {
    program = program_path();
  } catch (const Error&) {
    return;
  }
  untie_thread();
  setenv("GOMP_SPINCOUNT", "3000", 0);
  execv(program.c_str(), argv);
}

// Opens /dev/null for closed standard streams, whose descriptors would otherwise be reused for the
// next files. Opens standard output read-only, so that writing to it still fails.
void open_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0)
      open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY);
}

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

// Runs the command line of a program that has these commands. Each error is one line on stderr.
// Returns the exit code:
//   0    success
//   1    failure
//   2    invalid command, config, data or checkpoint
//   130  interrupted and saved
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
  } catch (const Mistakes& mistakes) {
    logging::hide_progress();
    for (size_t i = 0; i + 1 < mistakes.each().size(); ++i)
      logging::error("{}", in_one_line(mistakes.each()[i]));
    return failed(exit_misused, in_one_line(mistakes.each().back()));
  } catch (const InputError& error) {
    return failed(exit_misused, in_one_line(error.what()));
  } catch (const std::bad_alloc&) {
    return failed(exit_failed, "out of memory; `heed summary` tells how much a config needs");
  } catch (const std::exception& error) {
    return failed(exit_failed, in_one_line(error.what()));
  }
}

}  // namespace
}  // namespace heed

int main(int argc, char** argv) {
  heed::open_standard_streams();
  // Exceeding the limit of a file's size and writing to a closed pipe are errors of write().
  signal(SIGXFSZ, SIG_IGN);
  signal(SIGPIPE, SIG_IGN);
  heed::keep_command_line(argc, argv);
  heed::limit_thread_spinning(argv);
  return heed::run_program(heed::program_commands(), argc, argv);
}
