// The worked examples of the documents. Where they print two digits, the digits here are those of
// the same formula in double precision.
#include <algorithm>
#include <cmath>

#include "lab/claims/claim.h"
#include "lab/claims/samples.h"

namespace heed::claims {
namespace {

constexpr Bound equal_digits = at_most(1e-6);  // absolute error, in float32

using Values = std::vector<double>;

const Values unscaled_weights = {0.00080013895853, 0.00217500319122, 0.00001465505623,
                                 0.87745891327845, 0.00080013895853, 0.11875115055703};
const Values scaled_weights = {0.01270252729984, 0.02262716652118, 0.00126162414754,
                               0.72288695753809, 0.01270252729984, 0.22781919719350};
const Values unscaled_outputs = {
    0.1, 0.10032553218917, 0.29793092131056, 0.39965240685351, 0.00254119105973, 0.36242807624571};
const Values scaled_outputs = {
    0.1, 0.10226582940319, 0.27403763932139, 0.39146508333138, 0.01704073629112, 0.30778975667461};

double error_at_temperature(double temperature, double expected) {
  const auto change = [=](MultiHeadAttentionOptions& o) { o.temperature = temperature; };
  return std::abs(sentence::book_output(change) - expected);
}

Tensor hard_weights(const Tensor& scores) {
  return weights_of_scores(scores, {}, {.normaliser = &normalisers::hardmax});
}

struct SweepRow {
  double temperature, output, entropy;
};
constexpr SweepRow sweep[] = {
    {0.25, 0.39989939493767, 0.00301820840008}, {0.5, 0.39459990490827, 0.09019715699761},
    {1, 0.36242807624571, 0.39264061851237},    {2, 0.28880823511795, 0.90025662149893},
    {5, 0.17085310484922, 1.55322830518219},    {10, 0.12778159720153, 1.72743804706792},
    {100, 0.10178769046746, 1.79111184911656},  {1e4, 0.10001667883274, 1.79175940464272}};

double entropy_at(double temperature) {
  const auto factor = static_cast<real>(1 / temperature);
  const Tensor weights = weights_of_scores(sentence::scores() * factor, {});
  double sum = 0;
  for (const real w : weights.values())
    if (w > 0) sum -= static_cast<double>(w) * std::log(static_cast<double>(w));
  return sum;
}

// Keras' MultiHeadAttention(num_heads=2, key_dim=2, value_dim=3).
AttentionForm keras_layer(int64_t dim, bool bias) {
  return {dim, 2, {.linear = {.bias = bias}, .key_dim = 2, .value_dim = 3}};
}

double error_of_keras_parameters(bool bias, int64_t dim_3, int64_t dim_4, int64_t dim_16) {
  return difference(keras_layer(3, bias).parameter_count(), dim_3) +
         difference(keras_layer(4, bias).parameter_count(), dim_4) +
         difference(keras_layer(16, bias).parameter_count(), dim_16);
}

}  // namespace

const std::vector<Claim> topics::examples = {
    {"A24", at_most(0), "S3 12.6",
     "\"The sleepy child reads a book\": \"book\" has the scores 0, 1, -4, 7, 0, 5",
     [] {
       return max_difference(sentence::scores(), {0, 1, -4, 7, 0, 5});
     }},
    {"A25", equal_digits, "S3 12.7",
     "… its weights are 0.8775 for \"reads\", 0.1188 for \"book\" and at most 0.0022 elsewhere",
     [] { return max_difference(weights_of_scores(sentence::scores(), {}), unscaled_weights); }},
    {"A25", equal_digits, "S3 12.8", "… its output is 0.36242808",
     [] { return error_at_temperature(1, unscaled_outputs[5]); }},
    {"A26", equal_digits, "S3 12.9", "scaled by 1/√3 these weights are 0.7229 and 0.2278",
     [] {
       const Tensor scores = sentence::scores(&similarities::scaled_dot);
       return max_difference(weights_of_scores(scores, {}), scaled_weights);
     }},
    {"A26", equal_digits, "S3 12.9", "… and the output is 0.30778976",
     [] { return std::abs(sentence::book_output(sentence::scaled) - scaled_outputs[5]); }},
    {"A27", equal_digits, "S3 12.6", "the six outputs are .1, .1003, .2979, .3997, .0025, .3624",
     [] { return max_difference(sentence::outputs(), unscaled_outputs); }},
    {"A27", equal_digits, "S3 12.6", "scaled they are .1, .1023, .2740, .3915, .0170, .3078",
     [] { return max_difference(sentence::outputs(sentence::scaled), scaled_outputs); }},
    {"A27", equal_digits, "S3 12.6",
     "the output of \"The\", a vector of zeros, is the mean of all values, 0.1",
     [] { return std::abs(sentence::outputs().data()[0] - 0.1); }},
    {"A28", at_most(0), "S3 12.5", "hard attention gives \"reads\" the weight 1, all others 0",
     [] {
       return max_difference(hard_weights(sentence::scores()), {0, 0, 0, 1, 0, 0});
     }},
    {"A28", equal_digits, "S3 12.5", "… and the output 0.4",
     [] {
       return std::abs(sentence::book_output([](MultiHeadAttentionOptions& o) {
                         o.normaliser = &normalisers::hardmax;
                       }) -
                       0.4);
     }},
    {"A28", at_most(0), "S3 12.5", "ties share equally: scores 2, -1, 2, 0 give ½, 0, ½, 0",
     [] {
       return max_difference(hard_weights(Tensor::from({1, 1, 1, 4}, {2, -1, 2, 0})),
                             {0.5, 0, 0.5, 0});
     }},
    {"A29", equal_digits, "S3 12.5", "the output of \"book\" is 0.36242808 at temperature T = 1",
     [] { return error_at_temperature(1, 0.36242808); }},
    {"A29", equal_digits, "S3 12.5", "… 0.4 as T → 0 (T = 0.001)",
     [] { return error_at_temperature(1e-3, 0.4); }},
    {"A29", equal_digits, "S3 12.5", "… 0.1 as T → ∞ (T = 1,000,000)",
     [] { return error_at_temperature(1e6, 0.1); }},
    {"A29", equal_digits, "S3 12.5",
     "… .3999 .3946 .3624 .2888 .1709 .1278 .1018 .1000 for T = ¼ … 10,000",
     [] {
       return max_over(sweep, [](const SweepRow& row) {
         return error_at_temperature(row.temperature, row.output);
       });
     }},
    {"A29", at_most(4e-6), "S3 12.5",
     "the entropy of its weights grows from .0030 to ln 6 = 1.7918",
     [] {
       const double over_sweep = max_over(sweep, [](const SweepRow& row) {
         return std::abs(entropy_at(row.temperature) - row.entropy);
       });
       return std::max(over_sweep, std::abs(entropy_at(1e6) - std::log(6.0)));
     }},
    {"A30", by_construction, "S3 12.10",
     "the NumPy examples give 2 elements, 11 × 4, 11 × 2 and 11 × 2 (wrong shapes)",
     [] {
       double wrong = wrong_shape(attention_of(normal(1, 4), normal(11, 4), normal(11, 2)), 1, 2);
       const AttentionForm self(4, 1, basic());
       wrong += wrong_shape(self(normal(1, 11, 4), {}), 1, 11, 4);
       const Tensor x = normal(11, 4), wq = normal(4, 4), wk = normal(4, 4), wv = normal(4, 2);
       const auto head = [&] {
         return attention_of(matmul(x, wq), matmul(x, wk), matmul(x, wv), 0.5);
       };
       wrong += wrong_shape(head(), 11, 2);
       return wrong + wrong_shape(sum(stack({head(), head()}, 2) * normal(2), {-1}), 11, 2);
     }},
    {"A30", equal, "S3 12.10", "… their 11 weights sum to 1",
     [] { return error_of_sums(softmax(matmul(normal(1, 4), normal(4, 11)))); }},
    {"A31", by_construction, "S4",
     "Keras' layer, 2 heads, keys of 2, values of 3: 77, 98, 350 parameters for d = 3, 4, 16",
     [] { return error_of_keras_parameters(true, 77, 98, 350); }},
    {"A31", by_construction, "S4", "… and 60, 80, 320 without biases (difference)",
     [] { return error_of_keras_parameters(false, 60, 80, 320); }},
    {"A31", by_construction, "S2, S4",
     "… its outputs are as wide as its queries, d = 16 (wrong shape)",
     [] { return wrong_shape(keras_layer(16, true)(normal(1, 4, 16), {}), 1, 4, 16); }},
    {"A32", equal, "S4",
     "the four words in NumPy: word 3 = word 1 + word 2, and so are its q, k and v",
     [] {
       const Tensor x = Tensor::from({4, 3}, {1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 1});
       return max_of(3, [&](int64_t) {
         const Tensor projected = linear(x, normal(2, 3));
         const auto word = [&](int64_t t) { return slice(projected, 0, t, t + 1); };
         return distance(word(2), word(0) + word(1));
       });
     }},
};

}  // namespace heed::claims
