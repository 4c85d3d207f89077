#include "nn/similarity.h"

#include "core/ops.h"
#include "nn/module_scope.h"

namespace heed::inline HEED_REAL {

Similarity::Similarity(const SimilarityOptions& options, int64_t heads, int64_t query_width,
                       int64_t key_width, const InitOptions& init)
    : options_(options), scale_(options.kind->scale ? options.kind->scale(options, key_width) : 1) {
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
