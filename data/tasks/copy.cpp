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

const DataKind data_kinds::copy = {
    .name = "copy",
    .keys = {"lengths", "symbols"},
    .framings = {Framing::language_model, Framing::seq2seq},
    .sequence_task = [](const DataOptions& options, Lengths lengths) -> SequenceTask {
      return {.tokens = numbered(options.symbols),
              .base = options.symbols,
              .lengths = lengths,
              .solve = [](SequencePair& pair) {
                pair.target = pair.source;
                return true;
              }};
    }};

}  // namespace heed
