// A program that writes examples: data.command. Who loads data says how to start it, since data
// knows no processes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "data/split.h"

namespace heed {

// The lines that a program writes. Clients do not need it.
class LineSource {
 public:
  virtual ~LineSource() = default;  // ends the program
  // Writes the next line, without its end. Returns false if there is none: see problem().
  virtual bool next(std::string& line) = 0;
  // Lets next() return false, also if another thread is in it.
  virtual void stop() = 0;
  // Returns why next() has returned false: "the program ended with exit code 1: …".
  virtual std::string problem() = 0;
  // Returns the lines of its standard error since the last call, without those that are too many.
  virtual std::vector<std::string> take_errors() = 0;
};

// How to start a program, and what is known of it. Clients do not need it.
struct ExampleProgram {
  std::string name;  // its words, for messages
  // The words that are files, each with the digest of its content.
  std::vector<std::pair<std::string, std::string>> files = {};
  // Starts it: it writes the examples of a split from number `start`, from 0. Throws Error if the
  // system refuses.
  std::function<std::unique_ptr<LineSource>(Split split, uint64_t seed, int64_t start)> start = {};
  // Returns the lines of a split that a run has kept: of training, the first ones. Null: none has,
  // and start() is called.
  std::function<std::string(Split split)> kept = {};
  // So many training examples stay in memory, to be read more than once.
  int64_t at_hand = 0;
  // Is called with each line of its standard error.
  std::function<void(const std::string& line)> log = [](const std::string&) {};
};

}  // namespace heed
