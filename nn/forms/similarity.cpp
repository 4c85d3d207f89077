// Defines nn/forms/similarity.h: the layer, then the forms, in the order of its table.
#include "nn/forms/similarity.h"

#include <cmath>

#include "core/fields.h"
#include "core/ops.h"

namespace heed::inline HEED_REAL {

constinit const SimilarityRule* const scaled_dot_product = &similarities::scaled_dot;

// Returns no tensor for a rule without this weight.
static Tensor initial_weight_of(decltype(SimilarityRule::weight_shape) shape,
                                const MultiHeadAttentionOptions& options, int64_t heads,
                                int64_t query_width, int64_t key_width) {
  check_fields(options, "attention");
  const SimilarityRule& rule = *options.similarity;
  check(query_width == key_width || rule.any_widths,
        "similarity: \"{}\" needs queries and keys of one width, got {} and {}", rule.name,
        query_width, key_width);
  if (!shape) return {};
  return initial_weight(shape(heads, query_width, key_width), options.linear.init);
}

Similarity::Similarity(const MultiHeadAttentionOptions& options, int64_t heads, int64_t query_width,
                       int64_t key_width)
    : weight(this, "weight",
             initial_weight_of(options.similarity->weight_shape, options, heads, query_width,
                               key_width)),
      inner_weight(this, "inner_weight",
                   initial_weight_of(options.similarity->inner_weight_shape, options, heads,
                                     query_width, key_width)),
      rule_(*options.similarity),
      scale_(rule_.scale ? rule_.scale(options, key_width) : 1),
      sigma_(options.sigma) {}

Tensor Similarity::operator()(const Tensor& q, const Tensor& k) const {
  const ModuleScope here(*this);
  return rule_.scores(*this, q, k);
}

namespace {

// The factor of scaled_dot.
double scale_for(const MultiHeadAttentionOptions& options, int64_t width) {
  switch (options.scale) {
    case ScoreScale::inverse_sqrt:
      return 1 / std::sqrt(static_cast<double>(width));
    case ScoreScale::inverse:
      return 1 / static_cast<double>(width);
    case ScoreScale::none:
      return 1;
    case ScoreScale::value:
      return options.scale_value;
  }
  throw Error("scaled_dot: unknown scale");
}

// q kᵀ for each example and head
Tensor dot_products(const Tensor& q, const Tensor& k) { return matmul(q, transpose(k, -1, -2)); }
Tensor unscaled(const Similarity&, const Tensor& q, const Tensor& k) { return dot_products(q, k); }

// Σₖ v[k] tanh(q + k)[k] for every pair of a query and a key, with v (H, 1, K). Keeps an array of
// (B, H, Tq, Tk, K) for backward.
Tensor sums_of_tanh(const Tensor& v, const Tensor& q, const Tensor& k) {
  const int64_t batch = q.dim(0), heads = q.dim(1), queries = q.dim(2), keys = k.dim(2);
  const int64_t width = q.dim(3);
  const Tensor hidden = tanh(q.reshape({batch, heads, queries, 1, width}) +
                             k.reshape({batch, heads, 1, keys, width}));
  const Tensor scores =
      matmul(hidden.reshape({batch, heads, queries * keys, width}), v.reshape({heads, width, 1}));
  return scores.reshape({batch, heads, queries, keys});
}

// x / ‖x‖, and 0 for 0. ‖x‖ = √K √mean(x²).
Tensor unit(const Tensor& x) {
  constexpr real tiny = 1e-12;  // added to the mean square: lengths below 1e-6 √K count as zero
  return mul(rms_norm(x, {}, tiny), 1 / std::sqrt(static_cast<real>(x.dim(-1))));
}

}  // namespace

const SimilarityRule similarities::scaled_dot = {
    .name = "scaled_dot",
    .is_dot_product = true,
    .is_product = true,
    .scale = scale_for,
    .scores = [](const Similarity& layer, const Tensor& q, const Tensor& k) {
      return scaled_products(q, k, layer.scale());
    }};

const SimilarityRule similarities::dot = {
    .name = "dot", .is_dot_product = true, .is_product = true, .scores = unscaled};

const SimilarityRule similarities::embedded_gaussian = {.name = "embedded_gaussian",
                                                        .is_dot_product = true,
                                                        .is_product = true,
                                                        .is_exponential = true,
                                                        .scores = unscaled};

// -‖q - k‖² / 2σ² = (q·k - ‖q‖²/2 - ‖k‖²/2) / σ²
const SimilarityRule similarities::gaussian = {
    .name = "gaussian",
    .is_exponential = true,
    .scores = [](const Similarity& layer, const Tensor& q, const Tensor& k) {
      const auto half_squares = [](const Tensor& x) {
        return mul(sum(x * x, {-1}, true), real{0.5});
      };
      const Tensor distances =
          dot_products(q, k) - half_squares(q) - transpose(half_squares(k), -1, -2);
      return mul(distances, static_cast<real>(1 / (layer.sigma() * layer.sigma())));
    }};

const SimilarityRule similarities::cosine = {
    .name = "cosine",
    .is_product = true,
    .scores = [](const Similarity&, const Tensor& q, const Tensor& k) {
      return dot_products(unit(q), unit(k));
    }};

const SimilarityRule similarities::additive = {
    .name = "additive",
    .weight_shape =
        [](int64_t heads, int64_t, int64_t width) {
          return Shape{heads, 1, width};
        },
    .scores = [](const Similarity& layer, const Tensor& q,
                 const Tensor& k) { return sums_of_tanh(layer.weight, q, k); }};

// qᵀ W k, with W (H, Kq, Kk)
const SimilarityRule similarities::general = {
    .name = "general",
    .any_widths = true,
    .weight_shape =
        [](int64_t heads, int64_t query_width, int64_t key_width) {
          return Shape{heads, query_width, key_width};
        },
    .scores = [](const Similarity& layer, const Tensor& q,
                 const Tensor& k) { return dot_products(matmul(q, layer.weight), k); }};

// vᵀ tanh(W₁ q + W₂ k), with W = [W₁, W₂] of (H, Kk, Kq + Kk)
const SimilarityRule similarities::luong_concat = {
    .name = "luong_concat",
    .any_widths = true,
    .weight_shape =
        [](int64_t heads, int64_t, int64_t key_width) {
          return Shape{heads, 1, key_width};
        },
    .inner_weight_shape =
        [](int64_t heads, int64_t query_width, int64_t key_width) {
          return Shape{heads, key_width, query_width + key_width};
        },
    .scores =
        [](const Similarity& layer, const Tensor& q, const Tensor& k) {
          const Tensor w1 = slice(layer.inner_weight, 2, 0, q.dim(3));
          const Tensor w2 = slice(layer.inner_weight, 2, q.dim(3), q.dim(3) + k.dim(3));
          const Tensor of_query = dot_products(q, w1);  // W₁ q for every query
          return sums_of_tanh(layer.weight, of_query, dot_products(k, w2));
        }};

// v₁·q + v₂·k, with v = [v₁; v₂] of (H, 1, Kq + Kk)
const SimilarityRule similarities::concat = {
    .name = "concat",
    .any_widths = true,
    .is_sum_of_terms = true,
    .weight_shape =
        [](int64_t heads, int64_t query_width, int64_t key_width) {
          return Shape{heads, 1, query_width + key_width};
        },
    .scores =
        [](const Similarity& layer, const Tensor& q, const Tensor& k) {
          const Tensor& v = layer.weight;
          const int64_t heads = v.dim(0), query_width = q.dim(3), width = v.dim(2);
          const Tensor v1 = slice(v, 2, 0, query_width).reshape({heads, query_width, 1});
          const Tensor v2 =
              slice(v, 2, query_width, width).reshape({heads, width - query_width, 1});
          return matmul(q, v1) + transpose(matmul(k, v2), -1, -2);
        }};

}  // namespace heed::inline HEED_REAL
