// What a shuffle of the places changes: S0's theorem, its lemma, and what breaks it.
#include <algorithm>

#include "core/autograd.h"
#include "core/scope.h"
#include "nn/convolution.h"
#include "optim/optimizer.h"
#include "theorems/samples.h"
#include "theorems/theorem.h"

namespace heed::theorems {
namespace {

constexpr int64_t places = 8, dim = 6;

// f(X P) against f(X) P.
double unlike(const Mixing& f, const Tensor& x, const Ids& order) {
  return distance(f(permuted(x, order), {}), permuted(f(x, {}), order));
}

OverPermutations of_self_attention() {
  const MultiHeadAttention attention(dim, 2);
  const Tensor x = normal({1, places, dim});
  return over_permutations(places, [&](const Ids& order) { return unlike(attention, x, order); });
}

OverPermutations of_learned_queries() {
  const LearnedQueries queries(2, dim, 2);
  const Tensor x = normal({1, places, dim}), y = queries(x, {});
  return over_permutations(
      places, [&](const Ids& order) { return distance(queries(permuted(x, order), {}), y); });
}

double error_of_orthogonality() {
  const Tensor identity = permutation_matrix(Ids::from({5}, {0, 1, 2, 3, 4}));
  return over_permutations(5,
                           [&](const Ids& order) {
                             const Tensor p = permutation_matrix(order), t = transpose(p, 0, 1);
                             return std::max(distance(matmul(p, t), identity),
                                             distance(matmul(t, p), identity));
                           })
      .most;
}

double error_of_lemma() {
  const Tensor scores = normal({7, 7});
  const Tensor weights = softmax(scores);
  return over_permutations(7,
                           [&](const Ids& order) {
                             const Tensor p = permutation_matrix(order), t = transpose(p, 0, 1);
                             return distance(softmax(matmul(matmul(t, scores), p)),
                                             matmul(matmul(t, weights), p));
                           })
      .most;
}

void theorem_1(Measurements& m) {
  m.at_most("A15", 0, "S0 def. 1", "P Pᵀ = Pᵀ P = I, 1,000 random P", error_of_orthogonality);
  m.at_most("A15", 0, "S0 def. 1", "X P, in columns, has the places of X in another order", [] {
    const Tensor x = normal({1, places, dim});
    return over_permutations(places,
                             [&](const Ids& order) {
                               const Tensor product =
                                   matmul(transpose(x, 1, 2), permutation_matrix(order));
                               return distance(permuted(x, order), transpose(product, 1, 2));
                             })
        .most;
  });
  m.at_most("A16", rounding, "S0 thm 1, S1, S3",
            "self-attention is equivariant: A(X P) = A(X) P, 1,000 random P",
            [] { return of_self_attention().most; });
  m.at_least("A16", 1e-9, "S1 22.1648/9", "… but not to the bit: the sums have another order",
             [] { return of_self_attention().most; });
  m.at_least("A16", different, "S0 thm 1", "… and not invariant: A(X P) is not A(X) (mean)", [] {
    const MultiHeadAttention attention(dim, 2);
    const Tensor x = normal({1, places, dim}), y = attention(x, SequenceContext{});
    return over_permutations(places,
                             [&](const Ids& order) {
                               return distance(attention(permuted(x, order), SequenceContext{}), y);
                             })
        .mean;
  });
  m.at_most("A17", rounding, "S0 thm 1",
            "attention with learned queries is invariant: A(X P) = A(X), 1,000 random P",
            [] { return of_learned_queries().most; });
  m.at_most("A18", rounding, "S0 lemma", "softmax(Pᵀ M P) = Pᵀ softmax(M) P, 1,000 random P",
            error_of_lemma);
}

// How keys and values are reordered, each by its own f of a random order.
template <class F>
OverPermutations reordered_context(F&& f) {
  const MultiHeadAttention attention(dim, 2);
  const Tensor x = normal({1, 3, dim}), k = normal({1, places, dim}), v = normal({1, places, dim});
  const Tensor y = attention(x, k, v, {}, {});
  return over_permutations(places, [&](const Ids& order) {
    const auto [keys, values] = f(k, v, order);
    return distance(attention(x, keys, values, {}, {}), y);
  });
}

void keys_and_values(Measurements& m) {
  m.at_most("A19", rounding, "S4 exercise", "keys and values shuffled together change nothing", [] {
    return reordered_context([](const Tensor& k, const Tensor& v, const Ids& order) {
             return std::pair(permuted(k, order), permuted(v, order));
           })
        .most;
  });
  m.at_most("A19", rounding, "S4 exercise", "keys and values shifted together change nothing", [] {
    return reordered_context([](const Tensor& k, const Tensor& v, const Ids&) {
             const Ids shift = circular_shift(places);
             return std::pair(permuted(k, shift), permuted(v, shift));
           })
        .most;
  });
  m.at_least("A19", different, "S4 exercise", "keys shuffled alone do (mean)", [] {
    return reordered_context([](const Tensor& k, const Tensor& v, const Ids& order) {
             return std::pair(permuted(k, order), v);
           })
        .mean;
  });
}

OverPermutations of_convolution(int64_t k, Padding padding) {
  const Convolution convolution(dim, k, padding, false);
  const Tensor x = normal({1, places, dim});
  return over_permutations(places, [&](const Ids& order) { return unlike(convolution, x, order); });
}

void convolutions(Measurements& m) {
  m.at_most("A20", rounding, "S0", "a convolution with k = 1 is equivariant, 1,000 random P",
            [] { return of_convolution(1, Padding::zero).most; });
  m.at_least("A20", different, "S0", "k = 3 is not equivariant (mean)",
             [] { return of_convolution(3, Padding::zero).mean; });
  m.at_least("A20", different, "S0", "k = 3 is not invariant either (mean)", [] {
    const Convolution convolution(dim, 3, Padding::circular, false);
    const Tensor x = normal({1, places, dim}), y = convolution(x, {});
    return over_permutations(
               places,
               [&](const Ids& order) { return distance(convolution(permuted(x, order), {}), y); })
        .mean;
  });
  m.at_most("A20", rounding, "S0", "k = 3 with joined ends follows circular shifts",
            [] { return error_of_shift(Padding::circular, 0, places); });
  m.at_most("A20", rounding, "S0", "k = 3 with zeros beyond the ends follows a shift inside",
            [] { return error_of_shift(Padding::zero, 2, places - 1); });
  m.at_least("A20", different, "S0", "… but not at the ends",
             [] { return error_of_shift(Padding::zero, 0, 2); });
}

// A convolution of 3, relu, mean over the places, one number: it is to learn the greatest of 8
// numbers. Trained on numbers in one order, ascending, or shuffled; measured on shuffled ones.
double loss_after_training(bool shuffled) {
  scope().gradients = true;
  const Linear read(1, 8), answer(8, 1);
  const Convolution convolution(8, 3, Padding::zero, false);
  OptimOptions options;
  std::vector<NamedParameter> parameters;
  for (const Module* part :
       {static_cast<const Module*>(&read), static_cast<const Module*>(&convolution),
        static_cast<const Module*>(&answer)})
    for (NamedParameter p : part->parameters()) {
      p.name = std::to_string(parameters.size());
      parameters.push_back(p);
    }
  const std::unique_ptr<Optimizer> optimizer = make_optimizer(options, parameters);
  const auto loss = [&](bool in_any_order) {
    Tensor x = normal({32, places, 1});
    const Tensor greatest = max(x, {1});
    real* numbers = x.mutable_data();
    for (int64_t b = 0; b < 32 && !in_any_order; ++b)
      std::sort(numbers + b * places, numbers + (b + 1) * places);
    return mse_loss(answer(mean(relu(convolution(read(x), {})), {1})), greatest);
  };
  for (int step = 0; step < 400; ++step) {
    optimizer->zero_grad();
    backward(loss(shuffled));
    (void)optimizer->step(1e-2);
  }
  double total = 0;
  for (int i = 0; i < 8; ++i) total += static_cast<double>(loss(true).item()) / 8;
  return total;
}

void what_breaks_it(Measurements& m) {
  m.at_least("A21", 1.5, "S0",
             "a convolution's error on shuffled sets: trained on one order, over on shuffled",
             [] { return loss_after_training(false) / loss_after_training(true); });
  m.at_least(
      "A22", different, "S0, S4", "with positions added, self-attention is not equivariant (mean)",
      [] {
        const MultiHeadAttention attention(dim, 2);
        const PositionalEncoding positions(dim, {PositionalKind::sinusoidal}, 1);
        const Tensor x = normal({1, places, dim}), y = attention(positions(x), SequenceContext{});
        return over_permutations(places,
                                 [&](const Ids& order) {
                                   return distance(
                                       attention(positions(permuted(x, order)), SequenceContext{}),
                                       permuted(y, order));
                                 })
            .mean;
      });
  m.at_least("A22", different, "S0, S4", "… and learned queries are not invariant (mean)", [] {
    const LearnedQueries queries(2, dim, 2);
    const PositionalEncoding positions(dim, {PositionalKind::sinusoidal}, 1);
    const Tensor x = normal({1, places, dim}), y = queries(positions(x), {});
    return over_permutations(places,
                             [&](const Ids& order) {
                               return distance(queries(positions(permuted(x, order)), {}), y);
                             })
        .mean;
  });
}

}  // namespace

void measure_permutations(Measurements& m) {
  m.section("Permutations");
  theorem_1(m);
  keys_and_values(m);
  convolutions(m);
  what_breaks_it(m);
}

}  // namespace heed::theorems
