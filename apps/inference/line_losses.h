// How well a language model predicts lines of text.
#pragma once

#include <vector>

#include "apps/inference/generation.h"
#include "apps/inference/line_output.h"
#include "data/text_codec.h"

namespace heed {

// Returns -log p of every token but the first, in nats, given those before it. Sequences longer
// than `window` (0: none is) are cut into adjacent windows, as in validation: a window's first
// token is the last target of the window before it.
std::vector<std::vector<double>> token_losses(const LanguageModel& model,
                                              std::span<const Sequence> sequences, int64_t window);

// Prints, for each line of input, the mean loss of its tokens, a tab and the line, or an object
// with the loss of each token. The model reads what generation without a prompt starts from
// (default_prompt()), then the line, then <eos> if the vocabulary has it. Lines that cannot be
// read: see print_outputs(). Returns their number. An empty line is scored only if it has <eos>.
int64_t print_losses(const LanguageModel& model, const TextCodec& codec, int64_t window,
                     const LineOutput& output);

}  // namespace heed
