// Generated tasks: problems made of random symbols, and the answer to each.
//
// A problem is drawn as a sequence of independent symbols below `base`, of a length within
// `lengths`; the task then poses it: it may rewrite the question, and writes the answer. Every task
// is a function in a file of its own whose head gives the encoding and worked examples. How
// question and answer are laid out for a model, with <bos>, <sep> and <eos>, is data/framing.h's.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/random.h"
#include "data/options.h"
#include "data/text_codec.h"

namespace heed {

struct Problem {
  std::vector<int32_t> question, answer;
};

struct Lengths {
  int64_t least, most;
};

struct Task {
  Level level;                       // how its symbols are written in a row: 3 1 4 or 314
  std::vector<std::string> symbols;  // by id
  std::vector<std::string> labels;   // where the answer is one symbol: the classes, by its id
  int64_t base;
  Lengths lengths;
  // Turns a drawn sequence into the question and answers it; false if this is no problem.
  std::function<bool(Problem&)> pose;

  // A random problem, every length equally likely.
  void draw(Random& random, Problem& problem) const;
  // How many sequences can be drawn, or `limit` if there are more.
  int64_t count(int64_t limit) const;
  // Sequence number `index` of them, in the order of length and then of value; false if it is no
  // problem.
  bool list(int64_t index, Problem& problem) const;
};

Task copy_task(const DataOptions& options, Lengths lengths);
Task reverse_task(const DataOptions& options, Lengths lengths);
Task sort_task(const DataOptions& options, Lengths lengths);
Task addition_task(const DataOptions& options);
Task modular_task(const DataOptions& options);
Task parity_task(Lengths lengths);

// The task that options.kind names, with sequences of these lengths where the task has a choice.
Task make_task(const DataOptions& options, Lengths lengths);

// The symbols of a task and the special ones that its layout needs (data/framing.h). Where all its
// questions have one length, a language model needs none.
std::shared_ptr<const TextCodec> task_codec(Level level, std::vector<std::string> symbols,
                                            Framing framing, bool one_length);

// "0", "1", … "count-1".
std::vector<std::string> numbers(int64_t count);

}  // namespace heed
