// Modular arithmetic, a ∘ b = c mod p: the task on which generalisation comes long after memory
// (Power et al. 2022, "Grokking"). p is data.modulus, ∘ is data.operation.
//
// The question is four symbols, a ∘ b =, the answer one, c. The numbers 0 … p-1 are their own ids,
// then come the sign and =. Division is by every b but 0 and takes a prime p: c is the number for
// which c · b = a mod p. With p = 97:
//
//   add             question 55 + 60 =    answer 18
//   divide          question  1 / 2 =     answer 49, since 49 · 2 = 98 = 1 mod 97
//
// A classifier has c as its label.
#include "data/tasks/task.h"

namespace heed {

// a / b mod p for a prime p, by Fermat: 1 / b = b^(p-2).
static int64_t quotient(int64_t a, int64_t b, int64_t p) {
  for (int64_t exponent = p - 2; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) a = a * b % p;
    b = b * b % p;
  }
  return a;
}

Task modular_task(const DataOptions& options) {
  const int64_t p = options.modulus;
  const Operation operation = options.operation;
  std::vector<std::string> symbols = numbers(p);
  for (const char* sign : {"+", "-", "*", "/"})
    if (*sign == "+-*/"[static_cast<int>(operation)]) symbols.push_back(sign);
  symbols.push_back("=");
  return {Level::word, symbols, numbers(p), p, {2, 2}, [p, operation](Problem& problem) {
            const int64_t a = problem.question[0], b = problem.question[1];
            if (operation == Operation::divide && b == 0) return false;
            const int64_t c = operation == Operation::add        ? (a + b) % p
                              : operation == Operation::subtract ? (a - b + p) % p
                              : operation == Operation::multiply ? a * b % p
                                                                 : quotient(a, b, p);
            const auto sign = static_cast<int32_t>(p);
            problem.question.assign({problem.question[0], sign, problem.question[1], sign + 1});
            problem.answer.assign(1, static_cast<int32_t>(c));
            return true;
          }};
}

}  // namespace heed
