// The example "The sleepy child reads a book": properties that no claim covers.
#include <doctest/doctest.h>

#include "lab/claims/samples.h"

using namespace heed;
using namespace heed::claims;

namespace {

constexpr double rounding = 1e-5;

sentence::Change normaliser(const NormaliserRule* kind) {
  return [kind](MultiHeadAttentionOptions& o) { o.normaliser = kind; };
}

}  // namespace

TEST_CASE("hard attention: output of every word") {
  // All scores of "The" are equal, so its output is the mean. "sleepy" has equal scores for itself
  // and "reads".
  CHECK(max_difference(sentence::outputs(normaliser(&normalisers::hardmax)),
                       {0.1, 0.1, 0.3, 0.4, 0, 0.4}) <= rounding);
}

TEST_CASE("raw scores as weights may be negative, and their sum need not be 1") {
  // The scores 0, 1, -4, 7, 0, 5 add up to 9.
  CHECK(max_difference(weights_of_scores(sentence::scores(), {}, {.normaliser = &normalisers::sum}),
                       {0, 1 / 9.0, -4 / 9.0, 7 / 9.0, 0, 5 / 9.0}) <= rounding);
  // -1·0.2 - 4·0.3 + 7·0.4 + 5·0.1 = 1.9, divided by the sum, by the count, and not divided.
  const auto output = [](const NormaliserRule* kind) {
    return sentence::book_output(normaliser(kind));
  };
  CHECK(output(&normalisers::sum) == doctest::Approx(1.9 / 9).epsilon(rounding));
  CHECK(output(&normalisers::count) == doctest::Approx(1.9 / 6).epsilon(rounding));
  CHECK(output(&normalisers::none) == doctest::Approx(1.9).epsilon(rounding));
}
