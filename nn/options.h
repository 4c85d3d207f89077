// Ranges and names that several options of models share.
#pragma once

#include "core/activation_names.h"
#include "core/fields.h"
#include "nn/feed_forward.h"
#include "nn/model_options.h"

namespace heed::inline HEED_REAL {

// The range of every dropout probability.
inline constexpr Range dropout_range{0, 0.99};

// Returns whether a model computes weights of attention: in a layer, or in a classifier's pool.
bool has_attention(const ModelOptions& options);

inline constexpr Named<FeedForwardActivation> feed_forward_activation_names[] = {
    HEED_ACTIVATIONS(HEED_ACTIVATION_NAMED){"swiglu", swiglu}};

}  // namespace heed::inline HEED_REAL
