// Random inputs for the claims, and comparisons of results. Everything random draws from the next
// random stream of the current scope.
#pragma once

#include <cmath>
#include <concepts>
#include <functional>
#include <vector>

#include "core/flops.h"
#include "core/ops.h"
#include "nn/forms/attention.h"
#include "nn/forms/convolution.h"
#include "nn/learned_queries.h"

namespace heed::claims {

using Computation = std::function<Tensor()>;

// Elements from N(0, 1).
Tensor normal(const Shape& shape);
template <std::integral... Dims>
Tensor normal(Dims... dims) {
  return normal(Shape{static_cast<int64_t>(dims)...});
}
// Elements f(0), f(1), …, in row-major order.
template <class F>
Ids ids_of(const Shape& shape, const F& f) {
  Ids ids = Ids::empty(shape);
  for (int64_t i = 0; i < ids.size(); ++i) ids.mutable_data()[i] = static_cast<int32_t>(f(i));
  return ids;
}
// Elements f(i, j).
template <class F>
Tensor matrix(int64_t rows, int64_t columns, const F& f) {
  Tensor elements = Tensor::empty({rows, columns});
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      elements.mutable_data()[i * columns + j] = static_cast<real>(f(i, j));
  return elements;
}

// A uniformly random permutation of 0 … n - 1 (Fisher & Yates).
Ids random_permutation(int64_t n);
// The permutation that moves each position of each line of n positions one to the right, and the
// last to the front. The positions of a line are `stride` apart.
Ids circular_shift(int64_t n, int64_t line, int64_t stride = 1);
// x (1, T, D) → (1, T', D), whose position t holds position order[t] of x.
Tensor permuted(const Tensor& x, const Ids& order);
// The identity matrix (n, n).
Tensor identity(int64_t n);

// ‖a - b‖ / ‖b‖; infinity if the shapes differ, or there is no element, or one is not finite.
double distance(const Tensor& a, const Tensor& b);
// max |actual - expected|; infinity if the sizes differ or an element is NaN.
double max_difference(const Tensor& actual, const std::vector<double>& expected);
// |a - b|
inline double difference(int64_t a, int64_t b) { return static_cast<double>(std::abs(a - b)); }
// 0 if x has this shape, else 1.
template <std::integral... Dims>
double wrong_shape(const Tensor& x, Dims... dims) {
  return x.shape() == Shape{static_cast<int64_t>(dims)...} ? 0 : 1;
}
// 1 if f throws Error, else 0.
double rejected(const Computation& f);
// The larger of the two; NaN if one is NaN.
inline double larger(double max, double value) {
  return value > max || std::isnan(value) ? value : max;
}
// The maximum of 0 and of f(item) over the items, or of f(0) … f(count - 1).
template <class Items, class F>
double max_over(const Items& items, const F& f) {
  double max = 0;
  for (const auto& item : items) max = larger(max, f(item));
  return max;
}
template <class F>
double max_of(int64_t count, const F& f) {
  double max = 0;
  for (int64_t i = 0; i < count; ++i) max = larger(max, f(i));
  return max;
}
// The element of a tensor of size 1.
inline double number(const Tensor& x) { return static_cast<double>(x.item()); }
// max |Σⱼ x[…, j] - 1|
double error_of_sums(const Tensor& weights);
inline double mean_square(const Tensor& x) { return number(mean(x * x)); }

// Copies a value into a parameter. Throws Error if there is none of this name and shape.
void set_parameter(const Module& module, const std::string& name, const Tensor& value);
void copy_parameters(const Module& from, const Module& to);

// Attention without parameters: queries, keys and values are the inputs themselves.
MultiHeadAttentionOptions basic(const SimilarityRule* similarity = &similarities::dot,
                                const NormaliserRule* normaliser = &normalisers::softmax);
// softmax(q kᵀ · scale) v for rows of queries, keys and values (…, D), from basic operations.
Tensor attention_of(const Tensor& q, const Tensor& k, const Tensor& v, double scale = 1);
// Scores of `pairs` random queries and keys: (pairs, 1, 1, 1).
Tensor random_scores(const SimilarityRule* kind, int64_t pairs, int64_t width);
// The FLOPs that f reports (core/observer.h), from shapes: no value is computed.
double flops_of(const Computation& f);

// distance(f(shifted X), shifted f(X)) at output positions [first, last), for a convolution f of
// kernel size 3 over 8 positions and a circular shift.
double error_of_shift(Padding padding, int64_t first, int64_t last);
// The edges of a complete graph with self-loops: edge i · n + j goes from node j to node i.
Edges complete_graph(int64_t nodes);

// "The sleepy child reads a book": six words with keys of width 3 and a value each (White, "Deep
// learning for molecules and materials", equations 12.1 and 12.2). The query is "book".
namespace sentence {

// Changes an option of the layer, which is softmax(q·k) without it.
using Change = std::function<void(MultiHeadAttentionOptions&)>;
inline void unchanged(MultiHeadAttentionOptions&) {}
inline void scaled(MultiHeadAttentionOptions& o) { o.similarity = &similarities::scaled_dot; }

// The scores of "book" with every word: (1, 1, 1, 6).
Tensor scores(const SimilarityRule* kind = &similarities::dot);
// The output of MultiHeadAttention for each word as the query: (1, 6, 1).
Tensor outputs(const Change& change = unchanged);
// The output for "book".
double book_output(const Change& change = unchanged);

}  // namespace sentence

}  // namespace heed::claims
