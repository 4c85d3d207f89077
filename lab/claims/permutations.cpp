// What a permutation of the positions changes: S0's claim, its lemma, and what breaks it.
#include <algorithm>
#include <cmath>

#include "apps/inference/evaluation.h"
#include "apps/training/load_data.h"
#include "apps/training/trainer.h"
#include "core/scope.h"
#include "lab/claims/claim.h"
#include "lab/claims/samples.h"

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

// The loss on the test split of a convolution that configs/augment.toml describes, smaller, after
// 150 steps on 60 pictures, with or without shifts.
double loss_after_training(const char* augment) {
  const LoadedConfig config = with_assignments(
      {},
      {"data.kind=shapes", "data.size=6", "data.train_size=60", "data.test_size=200", augment,
       "model.kind=classifier", "model.layers=2", "model.dim=16", "model.block.mixing=convolution",
       "model.positional.kind=sinusoidal", "train.batch_size=30", "optim.lr=5e-3"});
  const Corpus corpus = load_data(config);
  ScopeGuard here;
  here->gradients = true;
  Trainer trainer(config.experiment, corpus);
  for (int step = 0; step < 150; ++step) trainer.step();
  here->gradients = false;
  return evaluate(trainer.model(), corpus.splits.at("test"), corpus.framing, 100).loss;
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
     "test loss of a convolution trained on 60 pictures, divided by that with shifts of them",
     [] {
       return loss_after_training("data.augment=[]") /
              loss_after_training("data.augment=['shift']");
     }},
    {"A22", differs, "S0, S4", "with positions added, self-attention is not equivariant (mean)",
     [] { return equivariance_error(MultiHeadAttention(model_width, 2), true).mean; }},
    {"A22", differs, "S0, S4", "… and attention with learned queries is not invariant (mean)",
     [] { return invariance_error(LearnedQueries(2, model_width, 2), true).mean; }},
};

}  // namespace heed::claims
