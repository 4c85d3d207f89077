// Mistakes of the documents: the printed form, and the correct one.
#include <algorithm>
#include <cmath>

#include "lab/claims/claim.h"
#include "lab/claims/samples.h"
#include "nn/forms/positional.h"
#include "nn/forms/recurrent.h"
#include "nn/forms/time_dense.h"

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

Tensor normalised_by_sum(const Tensor& scores) {
  return weights_of_scores(scores, {}, {.normaliser = &normalisers::sum});
}

Tensor random_products() { return matmul(normal(5, 4), normal(4, 7)); }

double difference_of_layouts(bool transpose_weights) {
  const Tensor x = normal(5, 4), w = normal(4, 4);
  return distance(matmul(x, w), linear(x, transpose_weights ? transpose(w, 0, 1) : w));
}

// Attention whose three arguments are in this order, against (query, key, value) in theirs.
double error_of_order(int query, int key, int value) {
  const AttentionForm attention(4, 1, basic());
  const Tensor x[] = {normal(1, 5, 4), normal(1, 5, 4), normal(1, 5, 4)};
  return distance(attention(x[query], x[key], x[value], {}, {}), attention_of(x[0], x[1], x[2]));
}

// The sinusoids of position 1, d = 4.
Tensor position_1(int64_t first_k) {
  return slice(sinusoidal_positions(2, 4, {.first_k = first_k}), 0, 1, 2);
}

const std::vector<double> paper_position_1 = {0.841471, 0.540302, 0.010000, 0.999950};

// fairseq's divisor: ωₖ = 10000^(-k / (d/2 - 1)), sines before cosines.
Tensor fairseq(int64_t length, int64_t dim) {
  const int64_t half = dim / 2;
  return matrix(length, dim, [half](int64_t t, int64_t c) {
    const auto k = static_cast<double>(c % half) / static_cast<double>(half - 1);
    const double angle = static_cast<double>(t) * std::pow(10000.0, -k);
    return c < half ? std::sin(angle) : std::cos(angle);
  });
}

Tensor in_layout(RotaryLayout layout) { return sinusoidal_positions(50, 16, {.layout = layout}); }

double difference_of_products(const Tensor& a, const Tensor& b) {
  return distance(matmul(a, transpose(a, 0, 1)), matmul(b, transpose(b, 0, 1)));
}

double ratio_of(int64_t a, int64_t b) { return static_cast<double>(a) / static_cast<double>(b); }

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
     [] {
       const Tensor f = exp(Tensor::from({1, 3}, {89, 0, 0}));
       const Tensor weights = f / sum(f, {1}, true);
       return static_cast<double>(
           std::ranges::count_if(weights.values(), [](real w) { return !std::isfinite(w); }));
     }},
    {"Q3", equal, "S3, S4", "correct: subtract the maximum first (error)",
     [] {
       return max_difference(softmax(Tensor::from({1, 3}, {89, 0, 0})), {1, 0, 0});
     }},
    {"Q4", at_most(0.01), "S3 12.10",
     "printed: T outside the exponent, where weights vanish: Σ = .0020 at T = ½ (Σ)",
     [] { return printed_hardmax_sum(0.5); }},
    {"Q4", equal, "S3 12.10", "correct: softmax(x / T), whose limit is one-hot (error at T = .001)",
     [] {
       return max_difference(weights_of_scores(sentence::scores() * 1000, {}), {0, 0, 0, 1, 0, 0});
     }},
    {"Q5", at_most(1e-4), "S3 12.5",
     "printed: strong attention to \"child\"; its weight is .0000147, the smallest",
     [] {
       const Tensor weights = weights_of_scores(sentence::scores(), {});
       return static_cast<double>(weights.data()[2]);
     }},
    {"Q5", differs, "S3 12.9",
     "printed: divide by the dimension, 3; then the output of \"book\" is not .3078",
     [] {
       return std::abs(0.30778975667461 - sentence::book_output([](MultiHeadAttentionOptions& o) {
                         o.similarity = &similarities::scaled_dot, o.scale = ScoreScale::inverse;
                       }));
     }},
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
     [] {
       const Tensor x = normal(5, 4), wq = normal(4, 4), wk = normal(4, 4), wv = normal(4, 4);
       const Tensor k = matmul(x, wk), v = matmul(x, wv);
       return distance(attention_of(v, k, v), attention_of(matmul(x, wq), k, v));
     }},
    {"Q8", differs, "S0 eq. 1",
     "printed: one C; correct: Cⱼ, which depends on the query (relative spread)",
     [] {
       const Tensor k = normal(4, 7), q = normal(5, 4);
       const Tensor c = sum(exp(matmul(q, k)), {1});
       return (number(max(c)) - number(min(c))) / number(max(c));
     }},
    {"Q9", at_least(0.4), "S0 eq. 1",
     "printed: C = Σ f for any f; then weights may be negative, here -.444 (size)",
     [] { return -static_cast<double>(normalised_by_sum(sentence::scores()).data()[2]); }},
    {"Q9", at_most(0), "S0 eq. 1", "correct: none are with f = eˢ (sum of negative weights)",
     [] { return number(sum(relu(-weights_of_scores(sentence::scores(), {})))); }},
    {"Q9", at_most(0), "S0 eq. 1", "… and a row whose sum is 0 gives zeros, not infinity",
     [] {
       return max_difference(normalised_by_sum(Tensor::from({1, 1, 1, 3}, {2, -1, -1})), {0, 0, 0});
     }},
    {"Q10", at_least(10), "S0, S1",
     "printed: no 1/√d; the variance of q·k for width 64 is 64 (variance)",
     [] { return mean_square(random_scores(&similarities::dot, 4000, 64)); }},
    {"Q10", at_most(0.15), "S0, S1", "correct: with it, the variance is 1 (error)",
     [] { return std::abs(mean_square(random_scores(&similarities::scaled_dot, 4000, 64)) - 1); }},
    {"Q10", differs, "S0", "printed: a convolution is equivariant to shifts; not with zero padding",
     [] { return error_of_shift(Padding::zero, 0, 8); }},
    {"Q10", equal, "S0", "correct: with circular padding it is",
     [] { return error_of_shift(Padding::circular, 0, 8); }},
};

const std::vector<Claim> topics::mistakes_s1_s2_s4 = {
    {"Q11", at_least(0.1), "S1",
     "printed: qkv_attention has no softmax; its weights do not sum to 1 (error)",
     [] { return error_of_sums(random_products()); }},
    {"Q11", equal, "S1", "correct: softmax(q kᵀ / √d)",
     [] { return error_of_sums(softmax(random_products() * 0.5F)); }},
    {"Q11", differs, "S1",
     "printed: q = x W in code and q = W x in formulas, for the same W (difference)",
     [] { return difference_of_layouts(false); }},
    {"Q11", equal, "S1", "correct: one W is the transpose of the other",
     [] { return difference_of_layouts(true); }},
    {"Q12", at_least(10), "S1",
     "printed: because vectors have length √d; their product d is many times std(q·k), d = 512 "
     "(ratio)",
     [] {
       // √d · √d / std(q·k) for d = 512.
       const double query = std::sqrt(mean_square(normal(1000, 512)) * 512);
       const double key = std::sqrt(mean_square(normal(1000, 512)) * 512);
       return query * key / std::sqrt(mean_square(random_scores(&similarities::dot, 4000, 512)));
     }},
    {"Q12", at_most(0.1), "S1, S2", "correct: std(q·k) = √d (relative error)",
     [] {
       const double variance = mean_square(random_scores(&similarities::dot, 4000, 512));
       return std::abs(std::sqrt(variance / 512) - 1);
     }},
    {"Q13", by_construction, "S2",
     "V W(Q, K) conforms, as S2 defines them: m × v times v × v' mixes features (wrong shape)",
     [] { return wrong_shape(matmul(normal(7, 3), softmax(normal(3, 5))), 7, 5); }},
    {"Q13", at_least(1), "S2",
     "printed: the same letter for σ(Q Kᵀ / √q), which is m × m: V W, 7 × 3 times 7 × 7 (rejected)",
     [] { return rejected([] { return matmul(normal(7, 3), softmax(normal(7, 7))); }); }},
    {"Q13", by_construction, "S2", "correct: weights of positions on the left, W V (wrong shape)",
     [] { return wrong_shape(matmul(softmax(normal(7, 7)), normal(7, 3)), 7, 3); }},
    {"Q14", differs, "S4",
     "printed: sᵢⱼ = qⱼ·kᵢ; its softmax over j is a different one (difference)",
     [] {
       const Tensor q = normal(5, 4), k = normal(5, 4);
       return distance(softmax(matmul(k, transpose(q, 0, 1))),
                       softmax(matmul(q, transpose(k, 0, 1))));
     }},
    {"Q14", differs, "S4", "printed: Attention(x W_V, x W_Q, x W_K), read as (query, key, value)",
     [] { return error_of_order(2, 0, 1); }},
    {"Q14", equal, "S4", "correct: attention(query, key, value)",
     [] { return error_of_order(0, 1, 2); }},
    {"Q15", differs, "S4",
     "printed: ωₖ from k = 1; position 1 is .0100, .99995, .0001, 1.0, unlike the paper's",
     [] { return max_difference(position_1(1), paper_position_1); }},
    {"Q15", at_most(1e-6), "S4", "… which model.positional.first_k = 1 gives",
     [] {
       return max_difference(position_1(1), {0.010000, 0.999950, 0.000100, 1.0});
     }},
    {"Q15", at_most(1e-6), "the paper",
     "correct: from k = 0; position 1 is .8415, .5403, .0100, .99995",
     [] { return max_difference(position_1(0), paper_position_1); }},
    {"Q16", differs, "paper, OpenNMT",
     "four layouts: all sines first gives other vectors than interleaved",
     [] {
       return distance(in_layout(RotaryLayout::halves), in_layout(RotaryLayout::interleaved));
     }},
    {"Q16", equal, "paper, OpenNMT", "… with the same φ(i)·φ(j)",
     [] {
       return difference_of_products(in_layout(RotaryLayout::halves),
                                     in_layout(RotaryLayout::interleaved));
     }},
    {"Q16", differs, "fairseq", "… fairseq's divisor, d/2 - 1, gives another φ(i)·φ(j)",
     [] { return difference_of_products(fairseq(50, 16), in_layout(RotaryLayout::halves)); }},
    {"Q17", at_least(0.4), "S4",
     "printed: attention costs L² dₖ; correct: L² (dₖ + dᵥ) (fraction left out)",
     [] {
       // L = 100, dₖ = dᵥ = 16
       const Tensor x = normal(1, 100, 16);
       const double flops = flops_of([&] { return scaled_dot_product_attention(x, x, x, 1); });
       return 1 - 2 * 100 * 100 * 16 / flops;
     }},
    {"Q17", at_least(0.4), "S4",
     "printed: a recurrent layer costs L d dᵥ; correct: + L dᵥ² (fraction left out)",
     [] { return 1 - ratio_of(3 * 16 * 16, Gru(16, {false}).parameter_count()); }},
    {"Q17", at_least(100), "S4",
     "printed: a dense layer has L d dᵥ parameters; correct: L² d dᵥ, L = 100 (ratio)",
     [] { return ratio_of(Linear(100 * 2, 100 * 2, {false}).parameter_count(), 100 * 2 * 2); }},
    {"Q18", by_construction, "S4",
     "printed: a CNN has a fixed input length; it takes 1, 9 and 50 (wrong shapes)",
     [] {
       const Convolution convolution(4, 3);
       double wrong = 0;
       for (const int64_t n : {1, 9, 50})
         wrong += wrong_shape(convolution(normal(1, n, 4), {}), 1, n, 4);
       return wrong;
     }},
    {"Q18", at_least(1), "S4",
     "correct: a dense layer has; one for 9 positions rejects 10 (rejected)",
     [] { return rejected([] { return TimeDense(4, 9)(normal(1, 10, 4), {}); }); }},
    {"Q18", at_least(1), "S4",
     "printed: Keras concatenates heads; that gives 6 columns, not d = 3 (difference)",
     [] {
       return static_cast<double>(concat({normal(4, 3), normal(4, 3)}, -1).dim(-1) - 3);
     }},
    {"Q18", by_construction, "Keras",
     "correct: an output projection of 6 × 3 + 3 completes the 77 parameters (difference)",
     [] {
       const AttentionForm attention(3, 2, {.key_dim = 2, .value_dim = 3});
       const int64_t inside = 2 * Linear(3, 4).parameter_count() + Linear(3, 6).parameter_count();
       return difference(attention.parameter_count() - inside, 6 * 3 + 3);
     }},
    {"Q19", at_least(1), "S4", "printed: positions are appended; then x is wider (columns)",
     [] {
       const PositionalEncoding encode(16, {.combine = PositionalCombine::concat, .dim = 8}, 1);
       return static_cast<double>(encode(normal(1, 5, 8)).dim(2) - 8);
     }},
    {"Q19", by_construction, "the paper", "correct: added, and x has the same width (wrong shape)",
     [] {
       const PositionalEncoding encode(8, {&positional_encodings::sinusoidal}, 1);
       return wrong_shape(encode(normal(1, 5, 8)), 1, 5, 8);
     }},
    {"Q19", at_least(2), "S4",
     "printed: attention has fewer parameters; it has more than a convolution of 1 (ratio)",
     [] {
       return ratio_of(MultiHeadAttention(12, 1).parameter_count(),
                       Convolution(12, 1).parameter_count());
     }},
    {"Q19", at_most(0.1), "S4", "correct: fewer than a dense layer over everything, L = 9 (ratio)",
     [] {
       return ratio_of(MultiHeadAttention(12, 1).parameter_count(),
                       Linear(9 * 12, 9 * 12).parameter_count());
     }},
};

}  // namespace heed::claims
