// scaled_dot, dot and embedded_gaussian: q·k times a factor.
#include <cmath>

#include "core/ops.h"
#include "nn/similarity.h"

namespace heed::inline HEED_REAL {
namespace {

double scale_for(const SimilarityOptions& options, int64_t width) {
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

Tensor unscaled(const Similarity&, const Tensor& q, const Tensor& k) { return dot_products(q, k); }

}  // namespace

const SimilarityRule similarities::scaled_dot = {
    .name = "scaled_dot",
    .is_dot_product = true,
    .is_product = true,
    .scale = scale_for,
    .scores = [](const Similarity& layer, const Tensor& q, const Tensor& k) {
      return mul(dot_products(q, k), static_cast<real>(layer.scale()));
    }};

const SimilarityRule similarities::dot = {
    .name = "dot", .is_dot_product = true, .is_product = true, .scores = unscaled};

const SimilarityRule similarities::embedded_gaussian = {.name = "embedded_gaussian",
                                                        .is_dot_product = true,
                                                        .is_product = true,
                                                        .is_exponential = true,
                                                        .scores = unscaled};

}  // namespace heed::inline HEED_REAL
