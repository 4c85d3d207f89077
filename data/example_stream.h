// The training examples of a program, in order, read ahead by a thread.
//
// The thread reads lines and makes examples of them while the model trains. Example i depends on i
// alone: another order of calls than 0, 1, … is slower, since the program is started again, and
// gives the same examples.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "data/dataset.h"
#include "data/example_program.h"

namespace heed {

class ExampleStream {
 public:
  // Makes an example of line number i, in the thread. Throws InputError for a wrong line.
  using Read = std::function<void(const std::string& line, int64_t i, Example& example)>;
  // `source` is the program after it has written `next` training examples of this seed.
  ExampleStream(ExampleProgram program, uint64_t seed, std::unique_ptr<LineSource> source,
                int64_t next, Read read);
  ~ExampleStream();
  ExampleStream(const ExampleStream&) = delete;
  ExampleStream& operator=(const ExampleStream&) = delete;

  // Writes example i, and waits until the program has written it. Throws InputError if the program
  // fails, and Abandoned (core/abandon.h). Logs the program's standard error.
  void get(int64_t i, Example& example);
  // Returns the seconds that get() has waited.
  double seconds_waited() const { return waited_; }

  // The thread is ahead by at most so many examples, and so many tokens and other numbers.
  static constexpr size_t most_ready = 4096, most_numbers = size_t{1} << 24;

 private:
  void start();  // reads from source_, whose next example is next_
  void stop();
  void read_ahead();  // the thread

  const ExampleProgram program_;
  const uint64_t seed_;
  const Read read_;
  std::unique_ptr<LineSource> source_;
  int64_t next_;  // that get() returns without another start
  double waited_ = 0;
  std::thread thread_;

  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::deque<Example> ready_;        // next_, …
  std::vector<std::string> errors_;  // standard error that is not logged
  std::exception_ptr error_;
  size_t numbers_ = 0;                  // in ready_
  bool is_full_ = false;                // until half of it has been taken
  bool ended_ = false, stops_ = false;  // the thread has ended, must end
};

}  // namespace heed
