// Copy: write down what was read, the simplest thing attention can do.
//
// Question and answer are the same numbers below data.symbols, as many as data.lengths allows. A
// number is one symbol and its own id. With 50 symbols:
//
//   question        answer
//   7 0 49          7 0 49
//   12              12
#include "data/tasks/task.h"

namespace heed {

Task copy_task(const DataOptions& options, Lengths lengths) {
  return {
      Level::word, numbers(options.symbols), {}, options.symbols, lengths, [](Problem& problem) {
        problem.answer = problem.question;
        return true;
      }};
}

}  // namespace heed
