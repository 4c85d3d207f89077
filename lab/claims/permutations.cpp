// What a permutation of the positions changes: S0's claim, its lemma, and what breaks it.
#include <algorithm>
#include <cmath>

#include "apps/config/load_config.h"
#include "apps/training/trainer.h"
#include "core/scope.h"
#include "data/augment.h"
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

// A model of `settings` (--set of `heed train`) learns which figure a picture shows. Returns how
// much its answer changes when test pictures are turned or mirrored, ½ Σ |p - p'| over the
// probabilities of the figures: the mean over all pictures and over the 7 ways to do so.
double change_of_answers(const std::vector<std::string>& settings) {
  std::vector<std::string> all = {"data.kind=shapes",
                                  "data.size=5",
                                  "data.noise=0.1",
                                  "data.val_size=1",
                                  "data.test_size=64",
                                  "model.kind=classifier",
                                  "model.layers=1",
                                  "model.dim=16",
                                  "model.positional.kind=none",
                                  "model.activation=gelu",
                                  "train.steps=200",
                                  "optim.lr=1e-2",
                                  fmt::format("seed={}", scope().seed)};
  all.insert(all.end(), settings.begin(), settings.end());
  const Experiment experiment = with_assignments({}, all).experiment;
  const Corpus corpus = load_corpus(experiment.data, experiment.model.kind, scope().seed);
  Trainer trainer(experiment, corpus);
  while (trainer.steps_done() < experiment.train.steps) trainer.step();

  const Dataset& test = corpus.splits.at("test");
  Batch batch;
  Batches::in_order(test, experiment.model.kind, test.size).get(0, batch);
  const Tensor pictures = batch.features;  // (B, T, 3)
  const auto answers = [&](const Movement& movement) {
    const std::vector<int32_t> from = moved_cells(corpus.grid, movement);
    const int64_t cells = pictures.dim(1);
    const Tensor by_cell = transpose(pictures, 0, 1).reshape({cells, pictures.size() / cells});
    batch.features = transpose(embedding(by_cell, Ids::from({cells}, from))
                                   .reshape({cells, pictures.dim(0), pictures.dim(2)}),
                               0, 1);
    return softmax(trainer.model().logits(batch));
  };
  const NoGradients here;
  const Tensor upright = answers({});
  double total = 0;
  for (const bool mirrored : {false, true})
    for (int turns = mirrored ? 0 : 1; turns < 4; ++turns) {
      const Tensor change = answers({.mirrored = mirrored, .turns = turns}) - upright;
      total += number(sum(relu(change))) / static_cast<double>(7 * test.size);
    }
  return total;
}

const std::string with_convolution = "model.block.mixing=convolution",
                  with_augmentation = "data.augment=[\"flip\",\"rotate\"]";

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
    {"A21", trained(at_least(2)), "S0",
     "a convolution that learns figures from upright pictures: its answers change when they are "
     "turned, divided by after training on turned ones",
     [] {
       return change_of_answers({with_convolution}) /
              change_of_answers({with_convolution, with_augmentation});
     }},
    {"A21", trained(at_most(1e-4)), "S0",
     "attention without positions, trained on upright pictures: its answers when they are turned",
     [] { return change_of_answers({}); }},
    {"A22", differs, "S0, S4", "with positions added, self-attention is not equivariant (mean)",
     [] { return equivariance_error(MultiHeadAttention(model_width, 2), true).mean; }},
    {"A22", differs, "S0, S4", "… and attention with learned queries is not invariant (mean)",
     [] { return invariance_error(LearnedQueries(2, model_width, 2), true).mean; }},
};

}  // namespace heed::claims
