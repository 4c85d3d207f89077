// Sort: write the numbers in rising order (minGPT's demo: 3 symbols, length 6, 729 problems).
//
// The question is numbers below data.symbols, as many as data.lengths allows, the answer the same
// numbers sorted. A number is one symbol and its own id. With 3 symbols:
//
//   question        answer
//   0 0 2 1 0 1     0 0 0 1 1 2
//   2 1 0 2 1 0     0 0 1 1 2 2
//
// All questions of one length need no special symbol: a language model reads 0 0 2 1 0 1 0 0 0 1 1
// and learns the answer at the last six places, - - - - - 0 0 0 1 1 2.
#include <algorithm>

#include "data/tasks/task.h"

namespace heed {

Task sort_task(const DataOptions& options, Lengths lengths) {
  return {
      Level::word, numbers(options.symbols), {}, options.symbols, lengths, [](Problem& problem) {
        problem.answer = problem.question;
        std::sort(problem.answer.begin(), problem.answer.end());
        return true;
      }};
}

}  // namespace heed
