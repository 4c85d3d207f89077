// Reverse: write the sequence backwards (JoeyNMT's demo: 50 symbols, lengths 1 … 25).
//
// The question is numbers below data.symbols, as many as data.lengths allows, the answer the same
// numbers from last to first. A number is one symbol and its own id. With 50 symbols:
//
//   question        answer
//   7 0 49          49 0 7
//   12 12 3 4       4 3 12 12
#include "data/tasks/task.h"

namespace heed {

Task reverse_task(const DataOptions& options, Lengths lengths) {
  return {
      Level::word, numbers(options.symbols), {}, options.symbols, lengths, [](Problem& problem) {
        problem.answer.assign(problem.question.rbegin(), problem.question.rend());
        return true;
      }};
}

}  // namespace heed
