// How well a language model predicts lines of text.
#pragma once

#include <vector>

#include "apps/inference/generation.h"

namespace heed {

// Returns -log p of every token but the first, in nats, given those before it. Sequences longer
// than `window` (0: none is) are cut into adjacent windows, as in validation: a window's first
// token is the last target of the window before it.
std::vector<std::vector<double>> token_losses(const LanguageModel& model,
                                              std::span<const Sequence> sequences, int64_t window);

}  // namespace heed
