// Mistakes of S0 and S3: the printed form, and the correct one (Q1 to Q10).
#include <algorithm>
#include <cmath>

#include "lab/claims/claim.h"
#include "lab/claims/sentence.h"

namespace heed::claims {
namespace {

// exp(x) / sum(exp(x), axis=1) as NumPy evaluates it without keepdims: column j is divided by the
// sum of row j.
Tensor printed_softmax(const Tensor& x) { return exp(x) / sum(exp(x), {1}); }

// Scores of self-attention over 11 words of width 4.
Tensor scores_of_words() {
  const Tensor x = normal(11, 4);
  return matmul(x, transpose(x, 0, 1)) * 0.5F;
}

double non_finite_weights() {
  const Tensor f = exp(Tensor::from({1, 3}, {89, 0, 0}));
  const Tensor weights = f / sum(f, {1}, true);
  return static_cast<double>(
      std::ranges::count_if(weights.values(), [](real w) { return !std::isfinite(w); }));
}

// Σᵢ (e^xᵢ / T) / Σⱼ e^(xⱼ / T), as (12.10) is printed.
double printed_hardmax_sum(double temperature) {
  double numerator = 0, denominator = 0;
  const Tensor scores = sentence::scores();
  for (const real x : scores.values()) {
    numerator += std::exp(static_cast<double>(x)) / temperature;
    denominator += std::exp(static_cast<double>(x) / temperature);
  }
  return numerator / denominator;
}

double error_of_scale_by_dimension() {
  return std::abs(0.30778975667461 - sentence::book_output([](MultiHeadOptions& o) {
                    o.similarity = {&similarities::scaled_dot, ScoreScale::inverse, 1, 1};
                  }));
}

// The distance from self-attention of graph attention on a complete graph. The printed form sums
// b V over the edges, and then sums the result over the edges once more.
double error_on_complete_graph(bool as_printed) {
  constexpr int64_t n = 5;
  const auto [sender, receiver, features] = complete_graph(n);
  const Tensor x = normal(n, 4);
  const Tensor values = embedding(x, sender), queries = embedding(x, receiver);
  const Tensor b = segment_softmax(sum(queries * values, {1}, true), receiver, n);
  const Tensor once = segment_sum(b * values, receiver, n);
  const Tensor twice = segment_sum(embedding(once, receiver), receiver, n);
  return distance(as_printed ? twice : once, attention_of(x, x, x));
}

double difference_of_query_weights() {
  const Tensor x = normal(5, 4), wq = normal(4, 4), wk = normal(4, 4), wv = normal(4, 4);
  const Tensor k = matmul(x, wk), v = matmul(x, wv);
  return distance(attention_of(v, k, v), attention_of(matmul(x, wq), k, v));
}

double relative_spread_of_normalisers() {
  const Tensor c = sum(exp(matmul(normal(5, 4), normal(4, 7))), {1});
  return (number(max(c)) - number(min(c))) / number(max(c));
}

Tensor normalised_by_sum(const Tensor& scores) {
  return attention_weights(scores, {}, {&normalisers::sum, false, false});
}

}  // namespace

const std::vector<Claim> topics::mistakes_s0_s3 = {
    {"Q1", at_least(0.05), "S3 12.10",
     "printed: softmax without keepdims, whose rows do not sum to 1 (error)",
     [] { return error_of_sums(printed_softmax(scores_of_words())); }},
    {"Q1", equal, "S3 12.10", "correct: divide row i by its own sum",
     [] { return error_of_sums(softmax(scores_of_words())); }},
    {"Q1", at_least(1), "S3 12.10",
     "printed: … and it cannot divide the scores of 5 queries and 7 keys at all (rejected)",
     [] { return rejected([] { return printed_softmax(normal(5, 7)); }); }},
    {"Q2", at_least(0.3), "S3 12.10.4",
     "printed: the scale √q.shape[0] = √11, with which var(q·k / √11) is not 1 (error)",
     [] { return std::abs(mean_square(random_scores(&similarities::dot, 20'000, 4)) / 11 - 1); }},
    {"Q2", at_most(0.15), "S3 12.10.4", "correct: the width, var(q·k / √4) = 1 (error)",
     [] { return std::abs(mean_square(random_scores(&similarities::scaled_dot, 20'000, 4)) - 1); }},
    {"Q3", at_least(1), "S3, S4",
     "printed: exp(x) / Σ exp(x), which overflows for scores 89, 0, 0 (weights not finite)",
     non_finite_weights},
    {"Q3", equal, "S3, S4", "correct: subtract the maximum first (error)",
     [] {
       return max_difference(softmax(Tensor::from({1, 3}, {89, 0, 0})), {1, 0, 0});
     }},
    {"Q4", at_most(0.01), "S3 12.10",
     "printed: T outside the exponent, where weights vanish: Σ = .0020 at T = ½ (Σ)",
     [] { return printed_hardmax_sum(0.5); }},
    {"Q4", equal, "S3 12.10", "correct: softmax(x / T), whose limit is one-hot (error at T = .001)",
     [] {
       return max_difference(attention_weights(sentence::scores() * 1000, {}), {0, 0, 0, 1, 0, 0});
     }},
    {"Q5", at_most(1e-4), "S3 12.5",
     "printed: strong attention to \"child\"; its weight is .0000147, the smallest",
     [] {
       const Tensor weights = attention_weights(sentence::scores(), {});
       return static_cast<double>(weights.data()[2]);
     }},
    {"Q5", differs, "S3 12.9",
     "printed: divide by the dimension, 3; then the output of \"book\" is not .3078",
     error_of_scale_by_dimension},
    {"Q5", by_construction, "S3 12.1",
     "correct: keys of shape (6, 3), one row per word, printed as 3 × 6 (wrong shape)",
     [] { return wrong_shape(sentence::scores(), 1, 1, 1, 6); }},
    {"Q6", at_least(1), "S3 12.11",
     "printed: weights of heads 0 … H; the weights 0 … 3 do not fit 3 heads (rejected)",
     [] { return rejected([] { return normal(11, 2, 3) * normal(4); }); }},
    {"Q6", by_construction, "S3 12.11",
     "correct: W_v need not be square; the printed 4 × 2 gives 11 × 2 (wrong shape)",
     [] {
       const Tensor x = normal(11, 4);
       return wrong_shape(attention_of(x, x, matmul(x, normal(4, 2))), 11, 2);
     }},
    {"Q7", differs, "S3 12.17-19", "printed: b V, then Σ over the edges: summed twice",
     [] { return error_on_complete_graph(true); }},
    {"Q7", equal, "S3 12.17-19", "correct: e'ₖ = bₖ vₖ, then Σ: self-attention on a complete graph",
     [] { return error_on_complete_graph(false); }},
    {"Q8", differs, "S0 eq. 7", "printed: W_v X inside the softmax; correct: W_q X (difference)",
     difference_of_query_weights},
    {"Q8", differs, "S0 eq. 1",
     "printed: one C; correct: Cⱼ, which depends on the query (relative spread)",
     relative_spread_of_normalisers},
    {"Q9", at_least(0.4), "S0 eq. 1",
     "printed: C = Σ f for any f; then weights may be negative, here -.444 (size)",
     [] { return -static_cast<double>(normalised_by_sum(sentence::scores()).data()[2]); }},
    {"Q9", at_most(0), "S0 eq. 1", "correct: none are with f = eˢ (sum of negative weights)",
     [] { return number(sum(relu(-attention_weights(sentence::scores(), {})))); }},
    {"Q9", at_most(0), "S0 eq. 1", "… and a row whose sum is 0 gives zeros, not infinity",
     [] {
       return max_difference(normalised_by_sum(Tensor::from({1, 1, 1, 3}, {2, -1, -1})), {0, 0, 0});
     }},
    {"Q10", at_least(10), "S0, S1",
     "printed: no 1/√d; the variance of q·k for width 64 is 64 (variance)",
     [] { return mean_square(random_scores(&similarities::dot, 4000, 64)); }},
    {"Q10", at_most(1.5), "S0, S1", "correct: with it, the variance is 1 (variance)",
     [] { return mean_square(random_scores(&similarities::scaled_dot, 4000, 64)); }},
    {"Q10", differs, "S0", "printed: a convolution is equivariant to shifts; not with zero padding",
     [] { return error_of_shift(Padding::zero, 0, 8); }},
    {"Q10", equal, "S0", "correct: with circular padding it is",
     [] { return error_of_shift(Padding::circular, 0, 8); }},
};

}  // namespace heed::claims
