// The random words of StreamKey::block(), many at once, with vector instructions.
#pragma once

#include <cstdint>

#include "core/random.h"

namespace heed::inline HEED_REAL::kernels {

// Writes words 4 · first_block … 4 · (first_block + blocks) - 1 of a stream to `words`.
void philox_words(const StreamKey& stream, uint64_t first_block, int64_t blocks, uint32_t* words);

}  // namespace heed::inline HEED_REAL::kernels
