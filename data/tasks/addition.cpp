// Addition of two numbers of n digits (minGPT's adder; n is data.digits).
//
// The source is the digits of both numbers, each filled with zeros to n digits, without + or =. The
// target is the sum in n + 1 digits, the last digit first: in this order each digit needs only a
// carry from the digit before. A digit is one token and its own id. With n = 2:
//
//   85 + 50 = 135   source 8550   target 531
//    6 + 39 =  45   source 0639   target 540
//
// A language model reads 855053 and learns - - - 5 3 1: a vocabulary of 10, a context of 3n.
#include "data/tasks/task.h"

namespace heed {

static bool add_digits(SequencePair& pair) {
  const size_t digits = pair.source.size() / 2;
  pair.target.resize(digits + 1);
  int32_t carry = 0;
  for (size_t i = 0; i < digits; ++i) {
    const int32_t sum = pair.source[digits - 1 - i] + pair.source[2 * digits - 1 - i] + carry;
    pair.target[i] = sum % 10;
    carry = sum / 10;
  }
  pair.target[digits] = carry;
  return true;
}

const DataKind data_kinds::addition = {
    .name = "addition",
    .keys = {"digits"},
    .framings = {ModelKind::language_model, ModelKind::seq2seq},
    .sequence_task = [](const DataOptions& options, Lengths) -> SequenceTask {
      return {.tokens = numbered(10),
              .base = 10,
              .lengths = {2 * options.digits, 2 * options.digits},
              .solve = add_digits};
    },
    .level = Level::character};

}  // namespace heed
