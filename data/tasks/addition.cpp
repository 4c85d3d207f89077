// Addition of two numbers of n digits (minGPT's adder; n is data.digits).
//
// The question is the digits of both numbers, filled with zeros to n each, without + or =. The
// answer is the sum in n + 1 digits, the last digit first: that is the order in which one adds by
// hand, each digit needing only a carry from the one before. A digit is one symbol and its own id.
// With n = 2:
//
//   85 + 50 = 135   question 8550   answer 531
//    6 + 39 =  45   question 0639   answer 540
//
// A language model reads 855053 and learns - - - 5 3 1: a vocabulary of 10, a context of 3n.
#include "data/tasks/task.h"

namespace heed {

Task addition_task(const DataOptions& options) {
  const int64_t n = options.digits;
  return {Level::character, numbers(10), {}, 10, {2 * n, 2 * n}, [](Problem& problem) {
            const size_t digits = problem.question.size() / 2;
            problem.answer.resize(digits + 1);
            int32_t carry = 0;
            for (size_t place = 0; place < digits; ++place) {
              const int32_t sum = problem.question[digits - 1 - place] +
                                  problem.question[2 * digits - 1 - place] + carry;
              problem.answer[place] = sum % 10;
              carry = sum / 10;
            }
            problem.answer[digits] = carry;
            return true;
          }};
}

}  // namespace heed
