#include "nn/similarity.h"

#include "core/ops.h"
#include "nn/module_scope.h"

namespace heed::inline HEED_REAL {

void SimilarityOptions::fields(Fields& f) {
  static constexpr Named<ScoreScale> scales[] = {{"inverse_sqrt", ScoreScale::inverse_sqrt},
                                                 {"inverse", ScoreScale::inverse},
                                                 {"none", ScoreScale::none},
                                                 {"value", ScoreScale::value}};
  f.choice("similarity", kind, similarities::all, "score of a query and a key");
  f.choice("scale", scale, scales,
           "factor of scaled_dot: 1/√K, 1/K, 1, or scale_value; K is the width of a head's keys");
  f.number("scale_value", scale_value, {-1e6, 1e6}, "factor with scale = \"value\"");
  f.number("sigma", sigma, {1e-6, 1e6}, "width σ of the gaussian similarity");
}

Similarity::Similarity(const SimilarityOptions& options, int64_t heads, int64_t query_width,
                       int64_t key_width, const InitOptions& init)
    : options_(options), scale_(options.kind->scale ? options.kind->scale(options, key_width) : 1) {
  check_fields(options, "similarity");
  const SimilarityRule& rule = *options.kind;
  check(query_width == key_width || rule.any_widths,
        "similarity: \"{}\" needs queries and keys of one width, got {} and {}", rule.name,
        query_width, key_width);
  if (rule.weight_shape)
    weight = initial_weight(rule.weight_shape(heads, query_width, key_width), init);
  add("weight", weight);
}

Tensor Similarity::operator()(const Tensor& q, const Tensor& k) const {
  const ModuleScope here(*this);
  return options_.kind->scores(*this, q, k);
}

Tensor dot_products(const Tensor& q, const Tensor& k) { return matmul(q, transpose(k, -1, -2)); }

}  // namespace heed::inline HEED_REAL
