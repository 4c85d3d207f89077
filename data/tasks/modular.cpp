// Modular arithmetic, a ∘ b = c mod p: models memorise it long before they generalise (Power et al.
// 2022, "Grokking"). p is data.modulus, ∘ is data.operation.
//
// The source is four tokens, a ∘ b =, the target one token, c. The numbers 0 … p-1 are their own
// ids, followed by the sign and =. Division is by every b but 0 and needs a prime p: c is the
// number with c · b = a mod p. With p = 97:
//
//   add             source 55 + 60 =    target 18
//   divide          source  1 / 2 =     target 49, since 49 · 2 = 98 = 1 mod 97
//
// A classifier has c as its label.
#include "core/check.h"
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

constexpr Named<Operation> signs[] = {{"+", Operation::add},
                                      {"-", Operation::subtract},
                                      {"*", Operation::multiply},
                                      {"/", Operation::divide}};

static SequenceTask modular_task(const DataOptions& options, Lengths) {
  const int64_t p = options.modulus;
  const Operation operation = options.operation;
  std::vector<std::string> tokens = numbered(p);
  tokens.insert(tokens.end(), {name_of(signs, operation), "="});
  const auto solve = [p, operation](SequencePair& pair) {
    const int64_t a = pair.source[0], b = pair.source[1];
    if (operation == Operation::divide && b == 0) return false;
    const int64_t c = operation == Operation::add        ? (a + b) % p
                      : operation == Operation::subtract ? (a - b + p) % p
                      : operation == Operation::multiply ? a * b % p
                                                         : quotient(a, b, p);
    const auto sign = static_cast<int32_t>(p);
    pair.source.assign({pair.source[0], sign, pair.source[1], sign + 1});
    pair.target.assign(1, static_cast<int32_t>(c));
    return true;
  };
  return {.tokens = tokens, .base = p, .lengths = {2, 2}, .solve = solve};
}

static void check_prime(const DataOptions& options) {
  if (options.operation != Operation::divide) return;
  for (int64_t factor = 2; factor * factor <= options.modulus; ++factor)
    check_input(options.modulus % factor != 0,
                "`modulus` = {} must be a prime for `operation` = \"divide\"", options.modulus);
}

const DataKind data_kinds::modular = {
    .name = "modular",
    .keys = {"modulus", "operation"},
    .framings = {ModelKind::language_model, ModelKind::seq2seq, ModelKind::classifier},
    .check = check_prime,
    .sequence_task = modular_task,
    .labels = [](const DataOptions& options) { return numbered(options.modulus); }};

}  // namespace heed
