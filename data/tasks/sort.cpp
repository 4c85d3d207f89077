// Sort: write the numbers in ascending order (minGPT's demo: 3 symbols, length 6, 729 examples).
//
// The source is numbers. The target is the same numbers sorted. A number is one token and its own
// id. With 3 symbols:
//
//   source          target
//   0 0 2 1 0 1     0 0 0 1 1 2
//   2 1 0 2 1 0     0 0 1 1 2 2
//
// If all sources have one length, a language model needs no special token: it reads
// 0 0 2 1 0 1 0 0 0 1 1 and learns the target at the last six positions, - - - - - 0 0 0 1 1 2.
#include <algorithm>

#include "data/tasks/sequence_task.h"

namespace heed {

static void sort_numbers(SequencePair& pair) {
  pair.target = pair.source;
  std::sort(pair.target.begin(), pair.target.end());
}

SequenceTask sort_task(int64_t symbols, Lengths lengths) {
  return number_task(symbols, lengths, sort_numbers);
}

}  // namespace heed
