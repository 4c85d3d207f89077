// Child processes that train runs, several at a time.
//
// They end with this process: if it is killed, the system sends them a signal, after which they
// save and exit. A Ctrl-C of the terminal does not reach them, because each has a process group of
// its own: stop() tells them.
#pragma once

#include <string>
#include <vector>

#include "apps/support/process.h"

namespace heed {

class TrainingPool {
 public:
  // `launcher` is put in front of each command: "srun -n1". It is split like a line of a shell,
  // without running commands. Throws InputError if it is not valid.
  explicit TrainingPool(const std::string& launcher);
  TrainingPool(const TrainingPool&) = delete;
  TrainingPool& operator=(const TrainingPool&) = delete;

  // Starts this program with these arguments. Throws Error if the system refuses.
  void start(size_t id, const std::vector<std::string>& arguments);

  struct Ended {
    size_t id;          // as passed to start()
    int code;           // exit code; 128 + the signal that ended it
    std::string error;  // the last that the program printed, else the last line
  };
  // Waits until a process has ended, at most `seconds`. Returns all that have. A signal to this
  // process ends the wait.
  std::vector<Ended> wait(double seconds);

  // Tells all to save and exit, once.
  void stop();

  size_t size() const { return children_.size(); }
  std::vector<size_t> ids() const;

 private:
  struct Child {
    size_t id;
    Process process;
    int output;        // the reading end of a pipe; -1 at its end
    std::string tail;  // the last of what was read
  };
  static void read_output(Child& child);

  std::string program_;
  std::vector<std::string> command_;
  std::vector<Child> children_;
  bool stopped_ = false;
};

}  // namespace heed
