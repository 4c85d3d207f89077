// Where S1, S2 and S4 are wrong: what is printed, and what is right (Q11 to Q19).
#include <algorithm>
#include <cmath>

#include "nn/gru.h"
#include "nn/positional.h"
#include "nn/time_dense.h"
#include "theorems/samples.h"
#include "theorems/theorem.h"

namespace heed::theorems {
namespace {

void s1(Measurements& m) {
  m.at_least("Q11", 0.1, "S1",
             "printed: qkv_attention has no softmax; its weights do not add up to 1 (error)", [] {
               return greatest_error_of_sums(matmul(normal({5, 4}), normal({4, 7})));
             });
  m.at_most("Q11", rounding, "S1", "correct: softmax(q kᵀ / √d)", [] {
    return greatest_error_of_sums(softmax(mul(matmul(normal({5, 4}), normal({4, 7})), real{0.5})));
  });
  m.at_least("Q11", different, "S1",
             "printed: q = x W in code, q = W x in formulas, one W (difference)", [] {
               const Tensor x = normal({5, 4}), w = normal({4, 4});
               return distance(matmul(x, w), linear(x, w));
             });
  m.at_most("Q11", rounding, "S1", "correct: one is the other's transpose", [] {
    const Tensor x = normal({5, 4}), w = normal({4, 4});
    return distance(matmul(x, w), linear(x, transpose(w, 0, 1)));
  });
  m.at_least("Q12", 10, "S1",
             "printed: because vectors are √d long; that would be d, times std(q·k), d = 512", [] {
               const double lengths = std::sqrt(mean_square(normal({1000, 512})) * 512) *
                                      std::sqrt(mean_square(normal({1000, 512})) * 512);
               return lengths /
                      std::sqrt(mean_square(random_scores(SimilarityKind::dot, 4000, 512)));
             });
  m.at_most("Q12", 0.1, "S1, S2", "correct: std(q·k) = √d (relative error)", [] {
    const double variance = mean_square(random_scores(SimilarityKind::dot, 4000, 512));
    return std::abs(std::sqrt(variance / 512) - 1);
  });
}

void s2(Measurements& m) {
  m.at_least("Q13", 1, "S2", "printed: V W(Q, K), 7 × 3 times 5 × 7, does not conform (refused)",
             [] { return refused([] {
                    (void)matmul(normal({7, 3}), softmax(normal({5, 7})));
                  }); });
  m.at_most("Q13", 0, "S2", "correct: W V, 5 × 7 times 7 × 3 (misfit)", [] {
    return misfit(matmul(softmax(normal({5, 7})), normal({7, 3})), {5, 3});
  });
}

// Attention with its three arguments in another order than query, key, value.
double error_of_order(int query, int key, int value) {
  const MultiHeadAttention attention(4, 1, basic());
  const Tensor x[] = {normal({1, 5, 4}), normal({1, 5, 4}), normal({1, 5, 4})};
  return distance(attention(x[query], x[key], x[value], {}, {}), attention_of(x[0], x[1], x[2]));
}

void s4_words(Measurements& m) {
  m.at_least("Q14", different, "S4",
             "printed: sᵢⱼ = qⱼ·kᵢ; over j, its softmax is another (difference)", [] {
               const Tensor q = normal({5, 4}), k = normal({5, 4});
               return distance(softmax(matmul(k, transpose(q, 0, 1))),
                               softmax(matmul(q, transpose(k, 0, 1))));
             });
  m.at_least("Q14", different, "S4",
             "printed: Attention(x W_V, x W_Q, x W_K), taken as (query, key, value)",
             [] { return error_of_order(2, 0, 1); });
  m.at_most("Q14", rounding, "S4", "correct: attention(query, key, value)",
            [] { return error_of_order(0, 1, 2); });
}

Tensor place_1(int64_t first_k) {
  PositionalOptions options;
  options.first_k = first_k;
  return slice(sinusoidal_positions(2, 4, options), 0, 1, 2);
}

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

Tensor in_layout(RotaryLayout layout) {
  PositionalOptions options;
  options.layout = layout;
  return sinusoidal_positions(50, 16, options);
}

void s4_positions(Measurements& m) {
  m.at_least("Q15", different, "S4",
             "printed: ωₖ from k = 1; place 1 is .0100, .99995, .0001, 1.0, unlike the paper's",
             [] {
               return greatest_difference(place_1(1), {0.841471, 0.540302, 0.010000, 0.999950});
             });
  m.at_most("Q15", 1e-6, "S4", "… with model.positional.first_k = 1 one has them", [] {
    return greatest_difference(place_1(1), {0.010000, 0.999950, 0.000100, 1.0});
  });
  m.at_most("Q15", 1e-6, "the paper", "correct: from k = 0; place 1 is .8415, .5403, .0100, .99995",
            [] {
              return greatest_difference(place_1(0), {0.841471, 0.540302, 0.010000, 0.999950});
            });
  m.at_least("Q16", different, "paper, OpenNMT",
             "four layouts: sines first are other vectors than interleaved ones", [] {
               return distance(in_layout(RotaryLayout::halves),
                               in_layout(RotaryLayout::interleaved));
             });
  m.at_most("Q16", rounding, "paper, OpenNMT", "… with the same φ(i)·φ(j)", [] {
    const Tensor a = in_layout(RotaryLayout::halves), b = in_layout(RotaryLayout::interleaved);
    return distance(matmul(a, transpose(a, 0, 1)), matmul(b, transpose(b, 0, 1)));
  });
  m.at_least("Q16", different, "fairseq", "… fairseq's divisor, d/2 - 1, gives another φ(i)·φ(j)",
             [] {
               const Tensor a = fairseq(50, 16), b = in_layout(RotaryLayout::halves);
               return distance(matmul(a, transpose(a, 0, 1)), matmul(b, transpose(b, 0, 1)));
             });
}

void s4_costs(Measurements& m) {
  m.at_least("Q17", 0.4, "S4",
             "printed: attention costs L² dₖ; correct: L² (dₖ + dᵥ) (the share left out)", [] {
               const double whole = attention_operations(100, 16, 16);
               return 1 - attention_operations(100, 16, 0) / whole;
             });
  m.at_least("Q17", 0.4, "S4",
             "printed: a recurrent layer costs L d dᵥ; correct: + L dᵥ² (the share left out)", [] {
               const auto whole = static_cast<double>(Gru(16, {false}).parameter_count());
               return 1 - static_cast<double>(3 * 16 * 16) / whole;
             });
  m.at_least("Q17", 100, "S4",
             "printed: a dense layer has L d dᵥ parameters; correct: L² d dᵥ, L = 100 (ratio)", [] {
               const Linear whole(100 * 2, 100 * 2, {false});
               return static_cast<double>(whole.parameter_count()) / (100 * 2 * 2);
             });
  m.at_most("Q18", 0, "S4", "printed: a CNN cannot read any length; it reads 1, 9 and 50 (misfits)",
            [] {
              const Convolution convolution(4, 3, Padding::zero, false);
              double misfits = 0;
              for (const int64_t n : {1, 9, 50})
                misfits += misfit(convolution(normal({1, n, 4}), {}), {1, n, 4});
              return misfits;
            });
  m.at_least("Q18", 1, "S4", "correct: the dense layer cannot; made for 9 places, it refuses 10",
             [] { return refused([] {
                    (void)TimeDense(4, 9)(normal({1, 10, 4}), {});
                  }); });
  m.at_least("Q18", 1, "S4",
             "printed: Keras concatenates heads; that has 6 columns, not d = 3 (difference)", [] {
               const Tensor heads[] = {normal({4, 3}), normal({4, 3})};
               return static_cast<double>(concat(heads, -1).dim(-1) - 3);
             });
  m.at_most("Q18", 0, "Keras",
            "correct: an output projection of 6 × 3 + 3 makes the 77 parameters (difference)", [] {
              AttentionSetup setup;
              setup.form.key_dim = 2;
              setup.form.value_dim = 3;
              const int64_t inside =
                  2 * Linear(3, 4).parameter_count() + Linear(3, 6).parameter_count();
              const int64_t count = MultiHeadAttention(3, 2, setup).parameter_count();
              return std::abs(static_cast<double>(count - inside - (6 * 3 + 3)));
            });
  m.at_least("Q19", 1, "S4", "printed: positions are appended; then x is wider by them (columns)",
             [] {
               PositionalOptions options;
               options.combine = PositionalCombine::concat;
               options.dim = 8;
               const PositionalEncoding encode(16, options, 1);
               return static_cast<double>(encode(normal({1, 5, 8})).dim(2) - 8);
             });
  m.at_most("Q19", 0, "the paper", "correct: added, and x is as wide as before (misfit)", [] {
    const PositionalEncoding encode(8, {PositionalKind::sinusoidal}, 1);
    return misfit(encode(normal({1, 5, 8})), {1, 5, 8});
  });
  m.at_least("Q19", 2, "S4",
             "printed: attention has fewer parameters; than a convolution of 1 more (ratio)", [] {
               const auto convolution =
                   static_cast<double>(Convolution(12, 1, Padding::zero, false).parameter_count());
               return static_cast<double>(MultiHeadAttention(12, 1).parameter_count()) /
                      convolution;
             });
  m.at_most("Q19", 0.1, "S4",
            "correct: fewer than a dense layer of everything, L = 9 (their share)", [] {
              const auto dense = static_cast<double>(Linear(9 * 12, 9 * 12).parameter_count());
              return static_cast<double>(MultiHeadAttention(12, 1).parameter_count()) / dense;
            });
}

}  // namespace

void measure_more_mistakes(Measurements& m) {
  m.section("Mistakes of S1, S2 and S4");
  s1(m);
  s2(m);
  s4_words(m);
  s4_positions(m);
  s4_costs(m);
}

}  // namespace heed::theorems
