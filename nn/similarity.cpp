#include "nn/similarity.h"

#include <cmath>

#include "core/ops.h"
#include "nn/current_part.h"

namespace heed::inline HEED_REAL {
namespace {

double scale_of(const SimilarityOptions& options, int64_t width) {
  if (options.kind != SimilarityKind::scaled_dot) return 1;
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
  throw Error("similarity: unknown scale");
}

Tensor initial_similarity(SimilarityKind kind, int64_t heads, int64_t query_width,
                          int64_t key_width, const InitOptions& init) {
  switch (kind) {
    case SimilarityKind::general:
      return initial_weight({heads, query_width, key_width}, init);
    case SimilarityKind::additive:
      return initial_weight({heads, 1, key_width}, init);
    case SimilarityKind::concat:
      return initial_weight({heads, 1, query_width + key_width}, init);
    default:
      return {};
  }
}

// q kᵀ, for each example and head.
Tensor products(const Tensor& q, const Tensor& k) { return matmul(q, transpose(k, -1, -2)); }

// x / ‖x‖, and 0 for 0. ‖x‖ = √K √mean(x²).
Tensor unit(const Tensor& x) {
  constexpr real tiny = 1e-12;  // of a mean of squares: lengths below 1e-6 √K count as zero
  return mul(rms_norm(x, {}, tiny), 1 / std::sqrt(static_cast<real>(x.dim(-1))));
}

// -‖q - k‖² / 2σ² = (q·k - ‖q‖²/2 - ‖k‖²/2) / σ²
Tensor gaussian(const Tensor& q, const Tensor& k, double sigma) {
  const auto half_squares = [](const Tensor& x) { return mul(sum(x * x, {-1}, true), real{0.5}); };
  const Tensor distances = products(q, k) - half_squares(q) - transpose(half_squares(k), -1, -2);
  return mul(distances, static_cast<real>(1 / (sigma * sigma)));
}

// Σₖ v[k] tanh(q + k)[k], for every pair of a query and a key: (B, H, Tq, Tk, K) is held.
Tensor additive(const Tensor& q, const Tensor& k, const Tensor& v) {
  const int64_t batch = q.dim(0), heads = q.dim(1), queries = q.dim(2), keys = k.dim(2);
  const int64_t width = q.dim(3);
  const Tensor hidden = tanh(q.reshape({batch, heads, queries, 1, width}) +
                             k.reshape({batch, heads, 1, keys, width}));
  const Tensor scores =
      matmul(hidden.reshape({batch, heads, queries * keys, width}), v.reshape({heads, width, 1}));
  return scores.reshape({batch, heads, queries, keys});
}

// v = [v₁; v₂]: v₁·q + v₂·k
Tensor concatenated(const Tensor& q, const Tensor& k, const Tensor& v) {
  const int64_t heads = v.dim(0), split_at = q.dim(3), width = v.dim(2);
  const Tensor of_queries = slice(v, 2, 0, split_at).reshape({heads, split_at, 1});
  const Tensor of_keys = slice(v, 2, split_at, width).reshape({heads, width - split_at, 1});
  return matmul(q, of_queries) + transpose(matmul(k, of_keys), -1, -2);
}

}  // namespace

bool is_exponential(SimilarityKind kind) {
  return kind == SimilarityKind::embedded_gaussian || kind == SimilarityKind::gaussian;
}

bool is_product(SimilarityKind kind) {
  return kind == SimilarityKind::scaled_dot || kind == SimilarityKind::dot ||
         kind == SimilarityKind::embedded_gaussian || kind == SimilarityKind::cosine;
}

Similarity::Similarity(const SimilarityOptions& options, int64_t heads, int64_t query_width,
                       int64_t key_width, const InitOptions& init)
    : weight(initial_similarity(options.kind, heads, query_width, key_width, init)),
      kind_(options.kind),
      scale_(scale_of(options, key_width)),
      sigma_(options.sigma) {
  check(query_width == key_width || kind_ == SimilarityKind::general ||
            kind_ == SimilarityKind::concat,
        "similarity: queries of width {} and keys of width {} must be equally wide for \"{}\"",
        query_width, key_width, similarity_names[static_cast<int>(kind_)]);
  add("weight", weight);
}

Tensor Similarity::operator()(const Tensor& q, const Tensor& k) const {
  const CurrentPart here(*this);
  switch (kind_) {
    case SimilarityKind::scaled_dot:
      return mul(products(q, k), static_cast<real>(scale_));
    case SimilarityKind::dot:
    case SimilarityKind::embedded_gaussian:
      return products(q, k);
    case SimilarityKind::gaussian:
      return gaussian(q, k, sigma_);
    case SimilarityKind::cosine:
      return products(unit(q), unit(k));
    case SimilarityKind::additive:
      return additive(q, k, weight);
    case SimilarityKind::general:
      return products(matmul(q, weight), k);
    case SimilarityKind::concat:
      return concatenated(q, k, weight);
  }
  throw Error("similarity: unknown kind");
}

}  // namespace heed::inline HEED_REAL
