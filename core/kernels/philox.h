// Many random words at once: what StreamKey::block() gives, at the speed of the vector unit.
#pragma once

#include <cstdint>

#include "core/random.h"

namespace heed::inline HEED_REAL::kernels {

// Words 4 · first_block … of a stream, 4 · blocks of them, into `words`.
void philox_words(const StreamKey& stream, uint64_t first_block, int64_t blocks, uint32_t* words);

}  // namespace heed::inline HEED_REAL::kernels
