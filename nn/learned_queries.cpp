#include "nn/learned_queries.h"

namespace heed::inline HEED_REAL {

LearnedQueries::LearnedQueries(int64_t count, int64_t dim, int64_t heads,
                               const MultiHeadAttentionOptions& options)
    : queries(this, "queries", initial_weight({count, dim}, options.linear.init)),
      attention_(this, "attention", make_attention(dim, heads, options)) {
  check(!options.causal && options.window == 0,
        "learned queries: a causal form or a window needs queries with a position in the sequence, "
        "which learned ones do not have");
}

Tensor LearnedQueries::operator()(const Tensor& x, const KeepMask& mask) const {
  const ModuleScope here(*this);
  check(!mask.causal && mask.window == 0,
        "learned queries: a causal mask or a window needs queries with a position in the sequence, "
        "which learned ones do not have");
  const Tensor batch = Tensor::zeros({x.dim(0), queries.dim(0), queries.dim(1)}) + queries;
  return attention_->across(batch, x, mask);
}

}  // namespace heed::inline HEED_REAL
