// Starts other programs.
#pragma once

#include <csignal>
#include <functional>
#include <optional>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

#include "core/descriptor.h"

namespace heed {

struct ProcessPipe {
  Descriptor reading, writing;
};

// Makes a pipe whose ends a program that exec() starts does not get. Throws Error with `purpose`,
// such as "cannot start a run", if the system refuses.
ProcessPipe make_pipe(const char* purpose);

struct ProcessStart {
  std::string program;                 // a path, or a name to look for in PATH
  std::vector<std::string> arguments;  // the first is the name by which the program is called
  // Pairs of a descriptor of this process and the one that the program gets for it. Standard
  // streams that are not here are /dev/null.
  std::vector<std::pair<int, int>> descriptors = {};
  std::string folder = {};                                   // to run in; "": that of this process
  std::optional<std::vector<std::string>> environment = {};  // none: that of this process
  // The signal that the program gets when the thread that started it ends, 0 for none. Only Linux
  // sends it; elsewhere the children of a process that is killed go on.
  int end_signal = SIGKILL;
  std::function<void()> in_child = {};  // called just before the program; only what is safe then
};

struct ProcessEnd {
  int code = 0;    // exit code, if no signal ended the process
  int signal = 0;  // that ended it, or 0

  int shell_code() const { return signal > 0 ? 128 + signal : code; }  // as in $? of a shell
};

// A child process. It has a process group of its own, so a Ctrl-C of the terminal does not reach
// it. A Process does not end with its object: call wait().
class Process {
 public:
  // Throws Error with `purpose`, such as "cannot start a run", if the system refuses. A program
  // that cannot be started says so on its standard error and exits with 127.
  Process(const ProcessStart& start, const std::string& purpose);
  // Copies this process, in its group. Returns the child to the parent, and nothing to the child.
  // No other thread may run. Throws Error with `purpose` if the system refuses.
  static std::optional<Process> split(const char* purpose);

  // Returns how the process ended, none while it runs. Call it once more only after none.
  std::optional<ProcessEnd> ended();
  ProcessEnd wait();  // the same, when it has ended
  void signal(int number) const { ::kill(id_, number); }
  void signal_group(int number) const { ::kill(-id_, number); }

 private:
  explicit Process(pid_t id) : id_(id) {}
  std::optional<ProcessEnd> look(int options);

  pid_t id_;
};

// For in_child: lets the program have its memory at the same addresses each time. Only on Linux.
// Older address sanitizers fail where much is randomized.
void fix_addresses();

}  // namespace heed
