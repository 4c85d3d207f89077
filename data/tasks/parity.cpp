// Parity: is the number of ones odd? Every bit counts, so no few of them tell anything.
//
// The question is bits, as many as data.lengths allows, the answer one symbol, 1 for odd and 0 for
// even. A bit is its own id.
//
//   question        answer
//   0110            0       two ones: even
//   10101           1       three ones: odd
//
// A classifier has the classes even and odd.
#include <numeric>

#include "data/tasks/task.h"

namespace heed {

Task parity_task(Lengths lengths) {
  return {Level::character, numbers(2), {"even", "odd"}, 2, lengths, [](Problem& problem) {
            const std::vector<int32_t>& bits = problem.question;
            problem.answer.assign(1, std::accumulate(bits.begin(), bits.end(), 0) % 2);
            return true;
          }};
}

}  // namespace heed
