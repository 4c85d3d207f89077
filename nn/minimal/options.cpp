// Defines for the minimal build what nn/options.cpp, nn/taps.cpp and nn/forms define. It checks no
// ranges, as it has no config to blame, shows nothing inside, and has no other form and no kernel.
#include "nn/transformer.h"

namespace heed::inline HEED_REAL {

const SimilarityRule* const scaled_dot_product = nullptr;
const NormaliserRule* const softmax_of_scores = nullptr;
std::unique_ptr<MultiHeadAttention> make_attention(int64_t dim, int64_t heads,
                                                   const MultiHeadAttentionOptions& options) {
  return std::make_unique<MultiHeadAttention>(dim, heads, options);
}
std::unique_ptr<Positions> make_positions(int64_t dim, const PositionalOptions& options, double std,
                                          std::span<const int64_t>) {
  return std::make_unique<Positions>(dim, options, std);
}

void InitOptions::validate() const {}
void NormOptions::validate() const {}
void PositionalOptions::validate(int64_t) const {}
void MultiHeadAttentionOptions::check_standard(int64_t, int64_t) const {}
void ModelOptions::check_ranges() const {}
void ModelOptions::validate_stack() const {}

void FeedForward::show_preactivation(const Tensor&) const {}
Tensor MultiHeadAttention::replaced_output(const Tensor&) const { return {}; }
Tensor MultiHeadAttention::fused(const Tensor&, const KeyValues&, const KeepMask&) const {
  return {};
}
Tensor Norm::replaced(const Tensor&) const { return {}; }

}  // namespace heed::inline HEED_REAL
