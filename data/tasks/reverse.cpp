// Reverse: write the sequence backwards (JoeyNMT's demo: 50 symbols, lengths 1 … 25).
//
// The source is numbers below data.symbols, as many as data.lengths allows. The target is the same
// numbers from last to first. A number is one token and its own id. With 50 symbols:
//
//   source          target
//   7 0 49          49 0 7
//   12 12 3 4       4 3 12 12
#include "data/tasks/sequence_task.h"

namespace heed {

const DataKind data_kinds::reverse = {
    .name = "reverse",
    .keys = {"lengths", "symbols"},
    .framings = {Framing::language_model, Framing::seq2seq},
    .sequence_task = [](const DataOptions& options, Lengths lengths) -> SequenceTask {
      return {.tokens = numbered(options.symbols),
              .base = options.symbols,
              .lengths = lengths,
              .solve = [](SequencePair& pair) {
                pair.target.assign(pair.source.rbegin(), pair.source.rend());
                return true;
              }};
    }};

}  // namespace heed
