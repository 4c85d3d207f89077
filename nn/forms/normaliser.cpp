// Defines nn/forms/normaliser.h: what the forms share, then the forms, in the order of its table.
#include "nn/forms/normaliser.h"

#include <limits>

#include "core/ops.h"
#include "core/parallel_for.h"
#include "nn/forms/similarity.h"

namespace heed::inline HEED_REAL {

constinit const NormaliserRule* const softmax_of_scores = &normalisers::softmax;

Tensor weights_of_scores(const Tensor& scores, const KeepMask& mask,
                         const MultiHeadAttentionOptions& options) {
  return options.normaliser->weights(scores, mask, options);
}

Tensor masked_scores(const Tensor& scores, const KeepMask& mask) {
  return masked_fill(scores, mask, -std::numeric_limits<real>::infinity());
}

Tensor masked_f(const Tensor& scores, const KeepMask& mask, bool exponential) {
  return exponential ? exp(masked_scores(scores, mask)) : masked_fill(scores, mask, 0);
}

const NormaliserRule normalisers::softmax = {
    .name = "softmax",
    .is_softmax = true,
    .weights = [](const Tensor& scores, const KeepMask& mask, const MultiHeadAttentionOptions&) {
      return softmax_weights(scores, mask);
    }};

const NormaliserRule normalisers::hardmax = {
    .name = "hardmax",
    .has_straight_through = true,
    .weights = [](const Tensor& scores, const KeepMask& mask,
                  const MultiHeadAttentionOptions& options) {
      return heed::hardmax(masked_scores(scores, mask), options.straight_through
                                                            ? HardmaxGradient::straight_through
                                                            : HardmaxGradient::none);
    }};

const NormaliserRule normalisers::sum = {
    .name = "sum",
    .divides_by_sum = true,
    .weights = [](const Tensor& scores, const KeepMask& mask,
                  const MultiHeadAttentionOptions& options) {
      return options.similarity->is_exponential ? softmax_weights(scores, mask)
                                                : sum_normalize(masked_f(scores, mask, false));
    }};

namespace {

// 1 / m, and 0 where m = 0: (B, H or 1, Tq, 1)
Tensor inverse_counts(const KeepMask& mask, const Shape& scores) {
  const int64_t batch = scores[0], queries = scores[2], keys = scores[3];
  const int64_t heads = mask.dense ? mask.dense.dim(1) : 1;
  Tensor inverse = Tensor::empty({batch, heads, queries, 1});
  real* to = inverse.mutable_data();
  parallel_for(batch * heads * queries, chunk_rows(keys), [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      const int64_t b = row / queries / heads, h = row / queries % heads, i = row % queries;
      int64_t count = 0;
      for (int64_t j = 0; j < keys; ++j) count += mask.keeps(b, h, i, j, queries, keys);
      to[row] = count > 0 ? 1 / static_cast<real>(count) : real{0};
    }
  });
  return inverse;
}

}  // namespace

const NormaliserRule normalisers::count = {.name = "count",
                                           .weights = [](const Tensor& scores, const KeepMask& mask,
                                                         const MultiHeadAttentionOptions& options) {
                                             return masked_f(scores, mask,
                                                             options.similarity->is_exponential) *
                                                    inverse_counts(mask, scores.shape());
                                           }};

const NormaliserRule normalisers::none = {.name = "none",
                                          .weights = [](const Tensor& scores, const KeepMask& mask,
                                                        const MultiHeadAttentionOptions& options) {
                                            return masked_f(scores, mask,
                                                            options.similarity->is_exponential);
                                          }};

}  // namespace heed::inline HEED_REAL
