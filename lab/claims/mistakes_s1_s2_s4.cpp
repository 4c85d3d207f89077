// Mistakes of S1, S2 and S4: the printed form, and the correct one (Q11 to Q19).
#include <cmath>

#include "lab/claims/claim.h"
#include "lab/claims/samples.h"
#include "nn/mixing/gru.h"
#include "nn/mixing/time_dense.h"
#include "nn/positional.h"

namespace heed::claims {
namespace {

Tensor random_products() { return matmul(normal(5, 4), normal(4, 7)); }

double difference_of_layouts(bool transpose_weights) {
  const Tensor x = normal(5, 4), w = normal(4, 4);
  return distance(matmul(x, w), linear(x, transpose_weights ? transpose(w, 0, 1) : w));
}

// √d · √d / std(q·k) for d = 512.
double lengths_over_deviation() {
  const double query = std::sqrt(mean_square(normal(1000, 512)) * 512);
  const double key = std::sqrt(mean_square(normal(1000, 512)) * 512);
  return query * key / std::sqrt(mean_square(random_scores(&similarities::dot, 4000, 512)));
}

// Attention whose three arguments are in this order, against (query, key, value) in theirs.
double error_of_order(int query, int key, int value) {
  const GeneralAttention attention(4, 1, basic());
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
  Tensor table = Tensor::empty({length, dim});
  for (int64_t t = 0; t < length; ++t)
    for (int64_t c = 0; c < dim; ++c) {
      const auto k = static_cast<double>(c % half) / static_cast<double>(half - 1);
      const double angle = static_cast<double>(t) * std::pow(10000.0, -k);
      table.mutable_data()[t * dim + c] =
          static_cast<real>(c < half ? std::sin(angle) : std::cos(angle));
    }
  return table;
}

Tensor in_layout(RotaryLayout layout) { return sinusoidal_positions(50, 16, {.layout = layout}); }

double difference_of_products(const Tensor& a, const Tensor& b) {
  return distance(matmul(a, transpose(a, 0, 1)), matmul(b, transpose(b, 0, 1)));
}

// L = 100, dₖ = dᵥ = 16
double fraction_without_values() {
  const Tensor x = normal(1, 100, 16);
  const double flops = flops_of([&] { return scaled_dot_product_attention(x, x, x, 1); });
  return 1 - 2 * 100 * 100 * 16 / flops;
}

double ratio_of(int64_t a, int64_t b) { return static_cast<double>(a) / static_cast<double>(b); }

double wrong_shapes_of_convolution() {
  const Convolution convolution(4, 3);
  double wrong = 0;
  for (const int64_t n : {1, 9, 50})
    wrong += wrong_shape(convolution(normal(1, n, 4), {}), 1, n, 4);
  return wrong;
}

double error_of_keras_output_projection() {
  const GeneralAttention attention(3, 2, {.form = {.key_dim = 2, .value_dim = 3}});
  const int64_t inside = 2 * Linear(3, 4).parameter_count() + Linear(3, 6).parameter_count();
  return difference(attention.parameter_count() - inside, 6 * 3 + 3);
}

}  // namespace

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
     lengths_over_deviation},
    {"Q12", at_most(0.1), "S1, S2", "correct: std(q·k) = √d (relative error)",
     [] {
       const double variance = mean_square(random_scores(&similarities::dot, 4000, 512));
       return std::abs(std::sqrt(variance / 512) - 1);
     }},
    {"Q13", at_least(1), "S2", "printed: V W(Q, K), 7 × 3 times 5 × 7, does not conform (rejected)",
     [] { return rejected([] { return matmul(normal(7, 3), softmax(normal(5, 7))); }); }},
    {"Q13", by_construction, "S2", "correct: W V, 5 × 7 times 7 × 3 (wrong shape)",
     [] { return wrong_shape(matmul(softmax(normal(5, 7)), normal(7, 3)), 5, 3); }},
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
     fraction_without_values},
    {"Q17", at_least(0.4), "S4",
     "printed: a recurrent layer costs L d dᵥ; correct: + L dᵥ² (fraction left out)",
     [] { return 1 - ratio_of(3 * 16 * 16, Gru(16, {false}).parameter_count()); }},
    {"Q17", at_least(100), "S4",
     "printed: a dense layer has L d dᵥ parameters; correct: L² d dᵥ, L = 100 (ratio)",
     [] { return ratio_of(Linear(100 * 2, 100 * 2, {false}).parameter_count(), 100 * 2 * 2); }},
    {"Q18", by_construction, "S4",
     "printed: a CNN has a fixed input length; it takes 1, 9 and 50 (wrong shapes)",
     wrong_shapes_of_convolution},
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
     error_of_keras_output_projection},
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
