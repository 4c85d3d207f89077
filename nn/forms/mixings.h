// The forms of Mixing (nn/mixing.h): attention, or a replacement for it. A form is a file in
// nn/mixing/ and a line of HEED_MIXINGS.
#pragma once

#include <memory>

#include "core/fields.h"
#include "core/registry.h"
#include "nn/linear.h"
#include "nn/mixing.h"

namespace heed::inline HEED_REAL {

struct FormOptions;  // nn/forms/parts.h

// A form of mixing.
struct MixingRule {
  const char* name = "";       // the word in a config
  bool is_attention = false;   // the forms of [model.attention] apply
  bool can_be_causal = false;  // with attention.causal no position reads a later one
  // Makes the layer.
  std::unique_ptr<Mixing> (*make)(const FormOptions& options,
                                  const LinearOptions& linear) = nullptr;
  // Throws InputError, naming the key, for options it cannot use; null: it can use all.
  void (*validate)(const FormOptions& options) = nullptr;
};

// clang-format off
#define HEED_MIXINGS(entry) \
  entry(attention) \
  entry(graph_attention) \
  entry(dense) \
  entry(convolution) \
  entry(gru)
// clang-format on
HEED_REGISTRY(mixings, MixingRule, HEED_MIXINGS)

// For the forms but attention. Throws Error, naming the form, unless x has the shape (B, T, dim)
// and the mask no window and no dense part, nor is causal unless `can_be_causal`; `reason` says
// why.
void check_mixing_input(const char* form, const char* reason, bool can_be_causal, const Tensor& x,
                        int64_t dim, const KeepMask& mask);

// What a convolution reads beyond the first and the last real position of a sequence.
enum class Padding {
  zero,      // zeros
  circular,  // the sequence again, as if its ends were joined
};

// The section [model.block].
struct MixingOptions {
  const MixingRule* kind = &mixings::attention;  // which form
  int64_t kernel_size = 3;                       // convolution
  Padding padding = Padding::zero;               // convolution
  int64_t length = 64;                           // dense: the longest sequence

  void fields(Fields& f);  // visits each, for a config
};

}  // namespace heed::inline HEED_REAL
