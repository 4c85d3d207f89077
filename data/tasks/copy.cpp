// Copy: repeat the sequence, the simplest task for attention.
//
// The source is numbers below data.symbols, as many as data.lengths allows. The target is the same
// numbers. A number is one token and its own id. With 50 symbols:
//
//   source          target
//   7 0 49          7 0 49
//   12              12
#include "data/tasks/task.h"

namespace heed {

static void copy_numbers(SequencePair& pair) { pair.target = pair.source; }

static SequenceTask copy_task(int64_t symbols, Lengths lengths) {
  return number_task(symbols, lengths, copy_numbers);
}

const DataKind data_kinds::copy = number_kind<copy_task>("copy");

}  // namespace heed
