// The activations as words of a config.
#pragma once

#include "core/activation.h"
#include "core/named.h"

namespace heed::inline HEED_REAL {

#define HEED_ACTIVATION_NAMED(name) {#name, Activation::name},

// Each word with its activation.
inline constexpr Named<Activation> activation_names[] = {{"none", Activation::none},
                                                         HEED_ACTIVATIONS(HEED_ACTIVATION_NAMED)};

}  // namespace heed::inline HEED_REAL
