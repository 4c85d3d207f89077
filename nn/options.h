// Fields that options of models share, for those who read them from a config.
#pragma once

#include "core/activation_names.h"
#include "core/fields.h"
#include "nn/transformer.h"

namespace heed::inline HEED_REAL {

// The range of every dropout probability.
inline constexpr Range dropout_range{0, 0.99};

inline constexpr Named<FeedForwardActivation> feed_forward_activation_names[] = {
    HEED_ACTIVATIONS(HEED_ACTIVATION_NAMED){"swiglu", swiglu}};

// The fields of BlockOptions before its section init: a model has a field of its own between them.
void width_field(BlockOptions& options, Fields& f);
void layer_fields(BlockOptions& options, Fields& f);
// All fields of ModelShape but those of sections.
void shape_fields(ModelShape& options, Fields& f);

}  // namespace heed::inline HEED_REAL
