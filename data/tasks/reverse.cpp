// Reverse: write the sequence backwards (JoeyNMT's demo: 50 symbols, lengths 1 … 25).
//
// The source is numbers. The target is the same numbers from last to first. A number is one token
// and its own id. With 50 symbols:
//
//   source          target
//   7 0 49          49 0 7
//   12 12 3 4       4 3 12 12
#include "data/tasks/sequence_task.h"

namespace heed {

static void reverse_numbers(SequencePair& pair) {
  pair.target.assign(pair.source.rbegin(), pair.source.rend());
}

SequenceTask reverse_task(int64_t symbols, Lengths lengths) {
  return number_task(symbols, lengths, reverse_numbers);
}

}  // namespace heed
