// Copy: repeat the sequence, the simplest task for attention.
//
// The source is numbers below data.symbols, as many as data.lengths allows. The target is the same
// numbers. A number is one token and its own id. With 50 symbols:
//
//   source          target
//   7 0 49          7 0 49
//   12              12
#include "data/tasks/sequence_task.h"

namespace heed {

static void copy_numbers(SequencePair& pair) { pair.target = pair.source; }

const DataKind data_kinds::copy = number_task<copy_numbers>("copy");

}  // namespace heed
