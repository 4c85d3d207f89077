// The documents' worked examples, number by number. Where they print two digits, the digits here
// are those of the same formula in double precision.
#include <algorithm>
#include <cmath>

#include "theorems/sentence.h"
#include "theorems/theorem.h"

namespace heed::theorems {
namespace {

constexpr double digits = 1e-6;  // an absolute error, in float32

using Numbers = std::vector<double>;

const Numbers unscaled_weights = {0.00080013895853, 0.00217500319122, 0.00001465505623,
                                  0.87745891327845, 0.00080013895853, 0.11875115055703};
const Numbers scaled_weights = {0.01270252729984, 0.02262716652118, 0.00126162414754,
                                0.72288695753809, 0.01270252729984, 0.22781919719350};
const Numbers unscaled_readings = {
    0.1, 0.10032553218917, 0.29793092131056, 0.39965240685351, 0.00254119105973, 0.36242807624571};
const Numbers scaled_readings = {
    0.1, 0.10226582940319, 0.27403763932139, 0.39146508333138, 0.01704073629112, 0.30778975667461};

double error_of_reading(double temperature, double wanted) {
  return std::abs(Sentence::book_reads(at_temperature(temperature)) - wanted);
}

void sentence(Measurements& m) {
  m.at_most("A24", 0, "S3 12.6",
            "\"The sleepy child reads a book\": \"book\" scores 0, 1, -4, 7, 0, 5", [] {
              return greatest_difference(Sentence::scores(), {0, 1, -4, 7, 0, 5});
            });
  m.at_most("A25", digits, "S3 12.7",
            "… its weights are …, 0.8775 for \"reads\", …, 0.1188 for \"book\"", [] {
              return greatest_difference(attention_weights(Sentence::scores(), {}),
                                         unscaled_weights);
            });
  m.at_most("A25", digits, "S3 12.8", "… and it reads 0.36242808",
            [] { return error_of_reading(1, unscaled_readings[5]); });
  m.at_most("A26", digits, "S3 12.9", "scaled by 1/√3 its weights are …, 0.7229, …, 0.2278", [] {
    const Tensor scores = Sentence::scores(SimilarityKind::scaled_dot);
    return greatest_difference(attention_weights(scores, {}), scaled_weights);
  });
  m.at_most("A26", digits, "S3 12.9", "… and it reads 0.30778976",
            [] { return std::abs(Sentence::book_reads(scaled_by_root) - scaled_readings[5]); });
  m.at_most("A27", digits, "S3 12.6", "all six words read .1, .1003, .2979, .3997, .0025, .3624",
            [] { return greatest_difference(Sentence::readings(as_it_is), unscaled_readings); });
  m.at_most("A27", digits, "S3 12.6", "scaled .1, .1023, .2740, .3915, .0170, .3078", [] {
    return greatest_difference(Sentence::readings(scaled_by_root), scaled_readings);
  });
  m.at_most("A27", digits, "S3 12.6", "\"The\", a vector of zeros, reads the mean of all, 0.1",
            [] { return std::abs(Sentence::readings(as_it_is).data()[0] - 0.1); });
}

Tensor hard(const Tensor& scores) {
  return attention_weights(scores, {}, {NormaliserKind::hardmax, false, false});
}

struct Warmth {
  double temperature, reading, entropy;
};
constexpr Warmth sweep[] = {
    {0.25, 0.39989939493767, 0.00301820840008}, {0.5, 0.39459990490827, 0.09019715699761},
    {1, 0.36242807624571, 0.39264061851237},    {2, 0.28880823511795, 0.90025662149893},
    {5, 0.17085310484922, 1.55322830518219},    {10, 0.12778159720153, 1.72743804706792},
    {100, 0.10178769046746, 1.79111184911656},  {1e4, 0.10001667883274, 1.79175940464272}};

double entropy(double temperature) {
  const Tensor weights =
      attention_weights(mul(Sentence::scores(), static_cast<real>(1 / temperature)), {});
  double sum = 0;
  for (const real w : weights.values())
    if (w > 0) sum -= static_cast<double>(w) * std::log(static_cast<double>(w));
  return sum;
}

void temperature(Measurements& m) {
  m.at_most("A28", 0, "S3 12.5", "hard attention weighs \"reads\" with 1 and all else with 0", [] {
    return greatest_difference(hard(Sentence::scores()), {0, 0, 0, 1, 0, 0});
  });
  m.at_most("A28", digits, "S3 12.5", "… and reads 0.4", [] {
    return std::abs(
        Sentence::book_reads([](MultiHeadOptions& o) { o.normaliser = NormaliserKind::hardmax; }) -
        0.4);
  });
  m.at_most("A28", 0, "S3 12.5", "ties share equally: scores 2, -1, 2, 0 give ½, 0, ½, 0", [] {
    return greatest_difference(hard(tensor({1, 1, 1, 4}, {2, -1, 2, 0})), {0.5, 0, 0.5, 0});
  });
  m.at_most("A29", digits, "S3 12.5", "\"book\" reads 0.36242808 at temperature T = 1",
            [] { return error_of_reading(1, 0.36242808); });
  m.at_most("A29", digits, "S3 12.5", "… 0.4 as T → 0 (T = 0.001)",
            [] { return error_of_reading(1e-3, 0.4); });
  m.at_most("A29", digits, "S3 12.5", "… 0.1 as T → ∞ (T = 1,000,000)",
            [] { return error_of_reading(1e6, 0.1); });
  m.at_most("A29", digits, "S3 12.5",
            "… .3999 .3946 .3624 .2888 .1709 .1278 .1018 .1000 for T = ¼ … 10,000", [] {
              double most = 0;
              for (const Warmth& row : sweep)
                most = std::max(most, error_of_reading(row.temperature, row.reading));
              return most;
            });
  m.at_most("A29", digits * 4, "S3 12.5",
            "the entropy of its weights grows from .0030 to ln 6 = 1.7918", [] {
              double most = 0;
              for (const Warmth& row : sweep)
                most = std::max(most, std::abs(entropy(row.temperature) - row.entropy));
              return std::max(most, std::abs(entropy(1e6) - std::log(6.0)));
            });
}

// S3's five demonstrations, by shapes: 11 keys of width 4, values of 2 numbers.
double misfits_of_numpy() {
  double misfits = misfit(attention_of(normal({1, 4}), normal({11, 4}), normal({11, 2})), {1, 2});
  const MultiHeadAttention self(4, 1, basic());
  misfits += misfit(self(normal({1, 11, 4}), SequenceContext{}), {1, 11, 4});
  const Tensor x = normal({11, 4}), wq = normal({4, 4}), wk = normal({4, 4}), wv = normal({4, 2});
  const auto head = [&] { return attention_of(matmul(x, wq), matmul(x, wk), matmul(x, wv), 0.5); };
  misfits += misfit(head(), {11, 2});
  const Tensor heads[] = {head(), head()};
  return misfits + misfit(sum(stack(heads, 2) * normal({2}), {-1}), {11, 2});
}

int64_t keras_parameters(int64_t dim, bool bias) {
  AttentionSetup setup;
  setup.linear.bias = bias;
  setup.form.key_dim = 2;
  setup.form.value_dim = 3;
  return MultiHeadAttention(dim, 2, setup).parameter_count();
}

// q, k and v of word 3 against the sums of those of words 1 and 2.
double error_of_sums_of_words() {
  const Tensor x = tensor({4, 3}, {1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 1});
  double most = 0;
  for (int i = 0; i < 3; ++i) {
    const Tensor projected = linear(x, normal({2, 3}));
    const auto word = [&](int64_t t) { return slice(projected, 0, t, t + 1); };
    most = std::max(most, distance(word(2), word(0) + word(1)));
  }
  return most;
}

void numpy_and_keras(Measurements& m) {
  m.at_most("A30", 0, "S3 12.10",
            "the NumPy demonstrations give 2 numbers, 11 × 4, 11 × 2, 11 × 2 (misfits)",
            misfits_of_numpy);
  m.at_most("A30", rounding, "S3 12.10", "… their weights, 11 of them, add up to 1", [] {
    return greatest_error_of_sums(softmax(matmul(normal({1, 4}), normal({4, 11}))));
  });
  m.at_most("A31", 0, "S4",
            "Keras' 2 heads, keys of 2, values of 3: 77, 98, 350 parameters for d = 3, 4, 16", [] {
              return static_cast<double>(std::abs(keras_parameters(3, true) - 77) +
                                         std::abs(keras_parameters(4, true) - 98) +
                                         std::abs(keras_parameters(16, true) - 350));
            });
  m.at_most("A31", 0, "S4", "… 60, 80, 320 without biases (difference)", [] {
    return static_cast<double>(std::abs(keras_parameters(3, false) - 60) +
                               std::abs(keras_parameters(4, false) - 80) +
                               std::abs(keras_parameters(16, false) - 320));
  });
  m.at_most("A31", 0, "S2, S4", "… and outputs as wide as queries, d = 16 (misfit)", [] {
    AttentionSetup setup;
    setup.form.key_dim = 2;
    setup.form.value_dim = 3;
    return misfit(MultiHeadAttention(16, 2, setup)(normal({1, 4, 16}), SequenceContext{}),
                  {1, 4, 16});
  });
  m.at_most("A32", rounding, "S4",
            "four words in NumPy: word 3 = word 1 + word 2, and so q, k and v",
            error_of_sums_of_words);
}

}  // namespace

void measure_examples(Measurements& m) {
  m.section("Worked examples");
  sentence(m);
  temperature(m);
  numpy_and_keras(m);
}

}  // namespace heed::theorems
