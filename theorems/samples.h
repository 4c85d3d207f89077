// What theorems are measured on: random tensors and permutations, and how far two tensors differ.
// All draw from the next random stream of the scope.
#pragma once

#include <functional>
#include <vector>

#include "core/ops.h"
#include "nn/attention.h"
#include "nn/convolution.h"

namespace heed::theorems {

// A tensor of these numbers.
Tensor tensor(const Shape& shape, const std::vector<double>& numbers);
// N(0, 1)
Tensor normal(const Shape& shape);

// A permutation of n things, all as likely (Fisher & Yates).
Ids random_permutation(int64_t n);
// One place to the right, the last to the front.
Ids circular_shift(int64_t n);
// P with column t the unit vector of order[t], so that X P has column order[t] of X in place t.
Tensor permutation_matrix(const Ids& order);
// x (1, T, D) with its place order[t] in place t.
Tensor permuted(const Tensor& x, const Ids& order);
// The greatest and the mean of f(order) over 1,000 random permutations of n places.
struct OverPermutations {
  double most = 0, mean = 0;
};
OverPermutations over_permutations(int64_t n, const std::function<double(const Ids& order)>& f);

// ‖a - b‖ / ‖b‖; infinity where the shapes differ, or a number is not finite.
double distance(const Tensor& a, const Tensor& b);
// The greatest |a - b|; infinity where there are not as many, or one is not a number.
double greatest_difference(const Tensor& got, const std::vector<double>& wanted);
// 0 where a shape is as wanted, else 1.
double misfit(const Tensor& x, const Shape& wanted);

// Copies a value into the parameter of this name, or the parameters of one module into another.
void set(const Module& module, const std::string& name, const Tensor& value);
void copy_parameters(const Module& from, const Module& to);

// Attention without a parameter: scores and weights as `form` says, queries, keys and values as
// they come.
AttentionSetup basic(SimilarityKind similarity = SimilarityKind::dot,
                     NormaliserKind normaliser = NormaliserKind::softmax);
// Without biases.
AttentionSetup plain();
// Of rows of queries, keys and values, (…, D); one head: softmax(q kᵀ · scale) v, from operations.
Tensor attention_of(const Tensor& q, const Tensor& k, const Tensor& v, double scale = 1);

// f(X) against f after a shift of one place around, f a convolution of 3 over 8 places: at the
// places [first, last) of the result.
double error_of_shift(Padding padding, int64_t first, int64_t last);
// 1 if f throws Error, else 0.
double refused(const std::function<void()>& f);

// Operations of softmax(Q Kᵀ) V on L queries and keys: a multiplication and its addition are two.
constexpr double attention_operations(double length, double key_width, double value_width) {
  return 2 * length * length * (key_width + value_width);
}

// So many scores of random queries and keys of this width.
Tensor random_scores(SimilarityKind kind, int64_t pairs, int64_t width);
double mean_square(const Tensor& x);
// How much of x (…, T) its sums over the last axis differ from 1, at most.
double greatest_error_of_sums(const Tensor& weights);

}  // namespace heed::theorems
