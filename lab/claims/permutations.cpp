// What a permutation of the positions changes: S0's claim, its lemma, and what breaks it.
#include <algorithm>
#include <cmath>

#include "core/autograd.h"
#include "core/scope.h"
#include "lab/claims/claim.h"
#include "lab/claims/samples.h"
#include "optim/optimizer.h"

namespace heed::claims {
namespace {

constexpr int64_t set_size = 8, model_width = 6;

// The maximum and the mean of f(order) over 1,000 random permutations of n positions.
struct OverPermutations {
  double max = 0, mean = 0;
};
OverPermutations over_permutations(int64_t n, const std::function<double(const Ids& order)>& f) {
  OverPermutations result;
  result.max = max_of(1000, [&](int64_t) {
    const double value = f(random_permutation(n));
    result.mean += value / 1000;
    return value;
  });
  return result;
}

// P (n, n), whose column t is the unit vector of order[t]: column t of X P is column order[t] of X.
Tensor permutation_matrix(const Ids& order) {
  return transpose(embedding(identity(order.size()), order), 0, 1);
}

// distance(f(X P), f(X) P) over random P, or for `invariant` distance(f(X P), f(X)), where f is a
// layer, or the layer after sinusoids are added.
template <class Layer>
OverPermutations change_by_order(bool invariant, const Layer& layer, bool with_positions) {
  const PositionalEncoding encode(model_width, {&positional_encodings::sinusoidal}, 1);
  const auto f = [&](const Tensor& x) { return layer(with_positions ? encode(x) : x, {}); };
  const Tensor x = normal(1, set_size, model_width), y = f(x);
  return over_permutations(set_size, [&](const Ids& order) {
    return distance(f(permuted(x, order)), invariant ? y : permuted(y, order));
  });
}
template <class Layer>
OverPermutations equivariance_error(const Layer& layer, bool with_positions = false) {
  return change_by_order(false, layer, with_positions);
}
template <class Layer>
OverPermutations invariance_error(const Layer& layer, bool with_positions = false) {
  return change_by_order(true, layer, with_positions);
}

// How much cross-attention changes when its keys are reordered, and its values if `both`.
OverPermutations reordered_context(bool both, bool is_shift = false) {
  const AttentionForm attention(model_width, 2);
  const Tensor x = normal(1, 3, model_width), k = normal(1, set_size, model_width),
               v = normal(1, set_size, model_width);
  const Tensor y = attention(x, k, v, {}, {});
  return over_permutations(set_size, [&](const Ids& random) {
    const Ids order = is_shift ? circular_shift(set_size, set_size) : random;
    return distance(attention(x, permuted(k, order), both ? permuted(v, order) : v, {}, {}), y);
  });
}

const std::vector<int64_t> image_grid = {4, 5};
constexpr int64_t image_cells = 20, image_width = 5;

// As error_of_shift(), of an image that is shifted along the axis of this stride.
double error_of_image_shift(Padding padding, int64_t stride) {
  const Convolution convolution(model_width, 3, padding, false, {}, {.grid = image_grid});
  const Tensor x = normal(1, image_cells, model_width);
  const Ids shift = circular_shift(image_cells, stride == 1 ? 5 : 4, stride);
  return distance(convolution(permuted(x, shift), {}), permuted(convolution(x, {}), shift));
}

// A small network of a convolution of 3, ReLU and a mean over the positions learns the maximum of 8
// numbers. It is trained on ascending or on shuffled numbers; returns its loss on shuffled numbers.
double loss_after_training(bool on_shuffled) {
  scope().gradients = true;
  const Linear input(1, 8), output(8, 1);
  const Convolution convolution(8, 3);
  std::vector<NamedParameter> parameters;
  for (const Module* module : std::initializer_list<const Module*>{&input, &convolution, &output})
    for (NamedParameter p : module->parameters()) {
      p.name = std::to_string(parameters.size());
      parameters.push_back(p);
    }
  Optimizer optimizer({.lr = 1e-2, .clip_norm = 1}, parameters);
  const auto loss = [&](bool is_shuffled) {
    Tensor x = normal(32, set_size, 1);
    const Tensor target = max(x, {1});
    real* numbers = x.mutable_data();
    for (int64_t b = 0; b < 32 && !is_shuffled; ++b)
      std::sort(numbers + b * set_size, numbers + (b + 1) * set_size);
    return mse_loss(output(mean(relu(convolution(input(x), {})), {1})), target);
  };
  for (int step = 0; step < 400; ++step) {
    optimizer.zero_grad();
    backward(loss(on_shuffled));
    optimizer.step();
  }
  double total = 0;
  for (int i = 0; i < 8; ++i) total += number(loss(true)) / 8;
  return total;
}

}  // namespace

const std::vector<Claim> topics::permutations = {
    {"A15", at_most(0), "S0 def. 1", "P Pᵀ = Pᵀ P = I for 1,000 random P",
     [] {
       return over_permutations(5,
                                [](const Ids& order) {
                                  const Tensor p = permutation_matrix(order),
                                               t = transpose(p, 0, 1);
                                  return std::max(distance(matmul(p, t), identity(5)),
                                                  distance(matmul(t, p), identity(5)));
                                })
           .max;
     }},
    {"A15", at_most(0), "S0 def. 1", "X P, in columns, is X with its positions reordered",
     [] {
       const Tensor x = normal(1, set_size, model_width);
       return over_permutations(set_size,
                                [&](const Ids& order) {
                                  const Tensor product =
                                      matmul(transpose(x, 1, 2), permutation_matrix(order));
                                  return distance(permuted(x, order), transpose(product, 1, 2));
                                })
           .max;
     }},
    {"A16", equal, "S0 thm 1, S1, S3",
     "self-attention is equivariant: A(X P) = A(X) P for 1,000 random P",
     [] { return equivariance_error(MultiHeadAttention(model_width, 2)).max; }},
    {"A16", at_least(1e-9), "S1 22.1648/9", "… but not bit for bit: the order of summation differs",
     [] { return equivariance_error(MultiHeadAttention(model_width, 2)).max; }},
    {"A16", differs, "S0 thm 1", "… and not invariant: A(X P) differs from A(X) (mean)",
     [] { return invariance_error(MultiHeadAttention(model_width, 2)).mean; }},
    {"A17", equal, "S0 thm 1",
     "attention with learned queries is invariant: A(X P) = A(X) for 1,000 random P",
     [] { return invariance_error(LearnedQueries(2, model_width, 2)).max; }},
    {"A18", equal, "S0 lemma", "softmax(Pᵀ M P) = Pᵀ softmax(M) P for 1,000 random P",
     [] {
       const Tensor scores = normal(7, 7), weights = softmax(scores);
       return over_permutations(7,
                                [&](const Ids& order) {
                                  const Tensor p = permutation_matrix(order),
                                               t = transpose(p, 0, 1);
                                  return distance(softmax(matmul(matmul(t, scores), p)),
                                                  matmul(matmul(t, weights), p));
                                })
           .max;
     }},
    {"A19", equal, "S4 exercise", "shuffling keys and values together changes nothing",
     [] { return reordered_context(true).max; }},
    {"A19", equal, "S4 exercise", "shifting keys and values together changes nothing",
     [] { return reordered_context(true, true).max; }},
    {"A19", differs, "S4 exercise", "shuffling only the keys changes the output (mean)",
     [] { return reordered_context(false).mean; }},
    {"A20", equal, "S0", "a convolution with k = 1 is equivariant for 1,000 random P",
     [] { return equivariance_error(Convolution(model_width, 1, Padding::zero)).max; }},
    {"A20", differs, "S0", "k = 3 is not equivariant (mean)",
     [] { return equivariance_error(Convolution(model_width, 3, Padding::zero)).mean; }},
    {"A20", differs, "S0", "k = 3 is not invariant either (mean)",
     [] { return invariance_error(Convolution(model_width, 3, Padding::circular)).mean; }},
    {"A20", equal, "S0", "k = 3 with circular padding is equivariant to circular shifts",
     [] { return error_of_shift(Padding::circular, 0, set_size); }},
    {"A20", equal, "S0", "k = 3 with zero padding is equivariant to shifts away from the ends",
     [] { return error_of_shift(Padding::zero, 2, set_size - 1); }},
    {"A20", differs, "S0", "… but not at the ends",
     [] { return error_of_shift(Padding::zero, 0, 2); }},
    {"A20", equal, "S0", "k × k on an image, circular: shifts of rows and columns",
     [] {
       return larger(error_of_image_shift(Padding::circular, 1),
                     error_of_image_shift(Padding::circular, image_width));
     }},
    {"A20", differs, "S0", "… but not with zero padding",
     [] { return error_of_image_shift(Padding::zero, 1); }},
    {"A20", at_most(0), "S0",
     "the last pixel of a row is no neighbour of the first of the next (change)",
     [] {
       const Convolution convolution(model_width, 3, Padding::zero, false, {},
                                     {.grid = image_grid});
       const Tensor x = normal(1, image_cells, model_width);
       Tensor other = x.clone();
       std::fill_n(other.mutable_data() + (image_width - 1) * model_width, model_width, real{9});
       const auto first_of_next = [&](const Tensor& of) {
         return slice(convolution(of, {}), 1, image_width, image_width + 1);
       };
       return distance(first_of_next(other), first_of_next(x));
     }},
    {"A21", trained(at_least(1.5)), "S0",
     "loss of a convolution on shuffled sets: trained on sorted sets, divided by on shuffled ones",
     [] { return loss_after_training(false) / loss_after_training(true); }},
    {"A22", differs, "S0, S4", "with positions added, self-attention is not equivariant (mean)",
     [] { return equivariance_error(MultiHeadAttention(model_width, 2), true).mean; }},
    {"A22", differs, "S0, S4", "… and attention with learned queries is not invariant (mean)",
     [] { return invariance_error(LearnedQueries(2, model_width, 2), true).mean; }},
};

}  // namespace heed::claims
