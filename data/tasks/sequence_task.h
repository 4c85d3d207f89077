// Tasks from sequences to sequences: copy, sort, arithmetic.
//
// A source is drawn as independent ids below `base`, of a length within `lengths`. The task writes
// its target. data/framing.h lays both out for a model, with <bos>, <sep> and <eos>.
#pragma once

#include "data/options.h"
#include "data/tasks/task.h"

namespace heed {

struct SequencePair {
  std::vector<int32_t> source, target;
};

struct SequenceTask {
  std::vector<std::string> tokens;  // by id, without special tokens
  int64_t base;
  Lengths lengths;
  // Writes the target of a drawn source, and may rewrite the source. Returns false for a source
  // without a target, such as a division by zero.
  std::function<bool(SequencePair&)> solve;
  Level level = Level::word;             // how tokens are written in a text: "3 1 4" or "314"
  std::vector<std::string> labels = {};  // classifier: names of the classes, by target id

  // Draws a random pair. All lengths are equally likely.
  void draw(Random& random, SequencePair& pair) const;
  // The number of sources that can be drawn, at most `limit`.
  int64_t count(int64_t limit) const;
  // Writes pair i < count(), in the order of length, then of value. Returns false if this source
  // has no target.
  bool list(int64_t i, SequencePair& pair) const;
};

// The same task, laid out for models of this framing.
Task task_of(SequenceTask sequences, Framing framing, bool one_length);

// A task whose source is numbers below data.symbols, as many as data.lengths allows. A number is
// one token and its own id.
template <void (*solve)(SequencePair&)>
DataKind number_task(const char* name) {
  return {.name = name,
          .keys = {"lengths", "symbols"},
          .framings = {Framing::language_model, Framing::seq2seq},
          .sequence_task = [](const DataOptions& options, Lengths lengths) -> SequenceTask {
            return {.tokens = numbered(options.symbols),
                    .base = options.symbols,
                    .lengths = lengths,
                    .solve = [](SequencePair& pair) {
                      solve(pair);
                      return true;
                    }};
          }};
}

}  // namespace heed
