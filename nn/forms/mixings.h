// The forms of Mixing (nn/mixing.h): attention, or a replacement for it. A form is a file in
// nn/forms/ and a line of HEED_MIXINGS.
#pragma once

#include "core/registry.h"
#include "nn/linear.h"
#include "nn/model_options.h"

namespace heed::inline HEED_REAL {

// clang-format off
#define HEED_MIXINGS(entry) \
  entry(attention) \
  entry(induced_attention) \
  entry(graph_attention) \
  entry(graph_convolution) \
  entry(dense) \
  entry(convolution) \
  entry(gru) \
  entry(lstm)
// clang-format on
HEED_REGISTRY(mixings, MixingRule, HEED_MIXINGS)

// For the forms but attention. Throws Error, naming the form, unless x has the shape (B, T, dim)
// and the mask no window and no dense part, nor is causal unless `can_be_causal`; `reason` says
// why.
void check_mixing_input(const char* form, const char* reason, bool can_be_causal, const Tensor& x,
                        int64_t dim, const KeepMask& mask);

// What a convolution reads beyond the first and the last real position of a sequence, or beyond the
// ends of an axis of a grid.
enum class Padding {
  zero,      // zeros
  circular,  // the sequence again, as if its ends were joined
};

// How a node of a graph combines the messages of its senders, in a graph convolution.
enum class Aggregate {
  sum,
  mean,       // the sum, divided by the number of edges into the node
  symmetric,  // each divided by √(edges into the receiver · edges into the sender)
};

}  // namespace heed::inline HEED_REAL
