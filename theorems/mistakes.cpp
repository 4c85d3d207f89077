// Where S0 and S3 are wrong: what is printed, and what is right (Q1 to Q10).
#include <algorithm>
#include <cmath>

#include "core/scope.h"
#include "nn/convolution.h"
#include "nn/graph_attention.h"
#include "nn/positional.h"
#include "theorems/sentence.h"
#include "theorems/theorem.h"

namespace heed::theorems {
namespace {

// exp(x) / sum(exp(x), axis=1), as NumPy reads it without keepdims: column j is divided by the sum
// of row j.
Tensor printed_softmax(const Tensor& x) { return exp(x) / sum(exp(x), {1}); }

Tensor scores_of_self_attention() {  // of 11 words of width 4
  const Tensor x = normal({11, 4});
  return mul(matmul(x, transpose(x, 0, 1)), real{0.5});
}

void s3_code(Measurements& m) {
  m.at_least("Q1", 0.05, "S3 12.10",
             "printed: softmax without keepdims; its rows do not add up to 1 (error)",
             [] { return greatest_error_of_sums(printed_softmax(scores_of_self_attention())); });
  m.at_most("Q1", rounding, "S3 12.10", "correct: divide row i by its own sum",
            [] { return greatest_error_of_sums(softmax(scores_of_self_attention())); });
  m.at_least("Q1", 1, "S3 12.10",
             "printed: … and scores of 5 queries and 7 keys it cannot divide at all (refused)", [] {
               return refused([] { (void)printed_softmax(normal({5, 7})); });
             });
  m.at_least(
      "Q2", 0.3, "S3 12.10.4", "printed: q.shape[0] = 11, so that var(q·k / √11) is not 1 (error)",
      [] { return std::abs(mean_square(random_scores(SimilarityKind::dot, 20'000, 4)) / 11 - 1); });
  m.at_most("Q2", 0.15, "S3 12.10.4", "correct: the width, var(q·k / √4) = 1 (error)", [] {
    return std::abs(mean_square(random_scores(SimilarityKind::scaled_dot, 20'000, 4)) - 1);
  });
  m.at_least("Q3", 1, "S3, S4",
             "printed: exp(x) / Σ exp(x); of scores 89, 0, 0 so many are no number", [] {
               const Tensor f = exp(tensor({1, 3}, {89, 0, 0}));
               const Tensor weights = f / sum(f, {1}, true);
               return static_cast<double>(std::ranges::count_if(
                   weights.values(), [](real w) { return !std::isfinite(w); }));
             });
  m.at_most("Q3", rounding, "S3, S4", "correct: subtract the greatest score first (error)", [] {
    return greatest_difference(softmax(tensor({1, 3}, {89, 0, 0})), {1, 0, 0});
  });
}

// Σᵢ (e^xᵢ / T) / Σⱼ e^(xⱼ / T), as (12.10) is printed.
double printed_hardmax_sum(double temperature) {
  double above = 0, below = 0;
  const Tensor scores = Sentence::scores();
  for (const real x : scores.values()) {
    above += std::exp(static_cast<double>(x)) / temperature;
    below += std::exp(static_cast<double>(x) / temperature);
  }
  return above / below;
}

void s3_formulas(Measurements& m) {
  m.at_most("Q4", 0.01, "S3 12.10",
            "printed: T outside the exponent; then weights vanish, Σ = .0020 at T = ½",
            [] { return printed_hardmax_sum(0.5); });
  m.at_most("Q4", rounding, "S3 12.10",
            "correct: softmax(x / T), whose limit is one-hot (error at T = .001)", [] {
              const Tensor weights = attention_weights(mul(Sentence::scores(), 1000), {});
              return greatest_difference(weights, {0, 0, 0, 1, 0, 0});
            });
  m.at_most("Q5", 1e-4, "S3 12.5",
            "printed: strong attention to \"child\"; its weight is .0000147, the least", [] {
              const Tensor weights = attention_weights(Sentence::scores(), {});
              return static_cast<double>(weights.data()[2]);
            });
  m.at_least(
      "Q5", different, "S3 12.9",
      "printed: divide by the dimension, 3; \"book\" would not read .3078", [] {
        return std::abs(0.30778975667461 - Sentence::book_reads([](MultiHeadOptions& o) {
                          o.similarity = {SimilarityKind::scaled_dot, ScoreScale::inverse, 1, 1};
                        }));
      });
  m.at_most("Q5", 0, "S3 12.1",
            "correct: keys of shape (6, 3), a word a row, printed as 3 × 6 (misfit)", [] {
              return misfit(Sentence::scores(), {1, 1, 1, 6});
            });
  m.at_least("Q6", 1, "S3 12.11",
             "printed: weights of heads 0 … H; those of 0 … 3 do not fit 3 heads (refused)", [] {
               return refused([] { (void)(normal({11, 2, 3}) * normal({4})); });
             });
  m.at_most("Q6", 0, "S3 12.11",
            "correct: W_v need not be square; its own, 4 × 2, gives 11 × 2 (misfit)", [] {
              const Tensor x = normal({11, 4});
              return misfit(attention_of(x, x, matmul(x, normal({4, 2}))), {11, 2});
            });
}

struct GraphSums {
  double printed, correct;  // distance from self-attention on a complete graph
};

// b V has been summed over the edges when ρ sums once more, over as many edges.
GraphSums graph_sums() {
  constexpr int64_t n = 5;
  Ids sender = Ids::empty({n * n}), receiver = Ids::empty({n * n});
  for (int32_t e = 0; e < n * n; ++e) {
    receiver.data()[e] = e / n;
    sender.data()[e] = e % n;
  }
  const Tensor x = normal({n, 4});
  const Tensor values = embedding(x, sender), queries = embedding(x, receiver);
  const Tensor b = segment_softmax(sum(queries * values, {1}, true), receiver, n);
  const Tensor once = segment_sum(b * values, receiver, n);
  const Tensor twice = segment_sum(embedding(once, receiver), receiver, n);
  const Tensor wanted = attention_of(x, x, x);
  return {distance(twice, wanted), distance(once, wanted)};
}

void graph_formulas(Measurements& m) {
  m.at_least("Q7", different, "S3 12.17-19", "printed: b V, then Σ over the edges: summed twice",
             [] { return graph_sums().printed; });
  m.at_most("Q7", rounding, "S3 12.17-19",
            "correct: e'ₖ = bₖ vₖ, then Σ: attention on a complete graph",
            [] { return graph_sums().correct; });
}

void s0_formulas(Measurements& m) {
  m.at_least("Q8", different, "S0 eq. 7",
             "printed: W_v X inside the softmax; correct: W_q X (difference)", [] {
               const Tensor x = normal({5, 4}), wq = normal({4, 4}), wk = normal({4, 4}),
                            wv = normal({4, 4});
               const Tensor k = matmul(x, wk), v = matmul(x, wv);
               return distance(attention_of(v, k, v), attention_of(matmul(x, wq), k, v));
             });
  m.at_least("Q8", different, "S0 eq. 1",
             "printed: one C; correct: Cⱼ, which the query changes (relative spread)", [] {
               const Tensor c = sum(exp(matmul(normal({5, 4}), normal({4, 7}))), {1});
               const double most = static_cast<double>(max(c).item());
               return (most + static_cast<double>(max(neg(c)).item())) / most;
             });
  m.at_least("Q9", 0.4, "S0 eq. 1",
             "printed: C = Σ f for any f; then weights may be negative, here -.444", [] {
               const Tensor weights =
                   attention_weights(Sentence::scores(), {}, {NormaliserKind::sum, false, false});
               return -static_cast<double>(weights.data()[2]);
             });
  m.at_most("Q9", 0, "S0 eq. 1", "correct: f = eˢ has none (the sum of negative weights)", [] {
    const Tensor weights = attention_weights(Sentence::scores(), {});
    return static_cast<double>(sum(relu(neg(weights))).item());
  });
  m.at_most("Q9", 0, "S0 eq. 1", "… and a row of sum 0 is guarded: it gives zeros, not infinity",
            [] {
              const Tensor scores = tensor({1, 1, 1, 3}, {2, -1, -1});
              return greatest_difference(
                  attention_weights(scores, {}, {NormaliserKind::sum, false, false}), {0, 0, 0});
            });
  m.at_least("Q10", 10, "S0, S1", "printed: no 1/√d; q·k of width 64 varies as 64",
             [] { return mean_square(random_scores(SimilarityKind::dot, 4000, 64)); });
  m.at_most("Q10", 1.5, "S0, S1", "correct: with it, as 1",
            [] { return mean_square(random_scores(SimilarityKind::scaled_dot, 4000, 64)); });
  m.at_least("Q10", different, "S0",
             "printed: a convolution follows shifts; not with zeros at its ends",
             [] { return error_of_shift(Padding::zero, 0, 8); });
  m.at_most("Q10", rounding, "S0", "correct: with joined ends it does",
            [] { return error_of_shift(Padding::circular, 0, 8); });
}

}  // namespace

void measure_mistakes(Measurements& m) {
  m.section("Mistakes of S0 and S3");
  s3_code(m);
  s3_formulas(m);
  graph_formulas(m);
  s0_formulas(m);
}

}  // namespace heed::theorems
