// Initial weights from a file or another run.
#pragma once

#include <string>
#include <vector>

#include "apps/training/binding.h"
#include "apps/training/checkpoint.h"
#include "core/tensor.h"

namespace heed {

// Loads initial weights from a run (its best checkpoint) or a .safetensors file into the parameters
// whose names match one of the patterns. `row_vocabularies` are those of the data. If they differ
// from those of the run, a row for a token is loaded from the row for the same token, wherever it
// is, and rows for tokens that the run lacks keep their values. Throws InputError if there are such
// tokens, other than special ones, and `new_tokens` is not `add`. Also if no name matches, if the
// file lacks one of them, has it in another shape, has values that are not finite, or has rows of
// unknown other tokens.
void load_weights(const std::string& path, const std::vector<std::string>& patterns,
                  const std::vector<NamedParameter>& parameters,
                  const RowVocabularies& row_vocabularies,
                  NewTokens new_tokens = NewTokens::refuse);

}  // namespace heed
