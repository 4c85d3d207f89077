// Parity: is the number of ones odd? Every bit counts: any subset of them says nothing.
//
// The source is bits, as many as data.lengths allows. The target is one token, 1 for odd and 0 for
// even. A bit is its own id.
//
//   source          target
//   0110            0       two ones: even
//   10101           1       three ones: odd
//
// A classifier has the classes even and odd.
#include <numeric>

#include "data/tasks/task.h"

namespace heed {

const DataKind data_kinds::parity = {
    .name = "parity",
    .keys = {"lengths"},
    .framings = {ModelKind::language_model, ModelKind::seq2seq, ModelKind::classifier},
    .sequence_task = [](const DataOptions&, Lengths lengths) -> SequenceTask {
      return {
          .tokens = numbered(2), .base = 2, .lengths = lengths, .solve = [](SequencePair& pair) {
            const std::vector<int32_t>& bits = pair.source;
            pair.target.assign(1, std::accumulate(bits.begin(), bits.end(), 0) % 2);
            return true;
          }};
    },
    .level = Level::character,
    .labels =
        [](const DataOptions&) {
          return std::vector<std::string>{"even", "odd"};
        }};

}  // namespace heed
