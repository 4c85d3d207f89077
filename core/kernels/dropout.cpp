#include <algorithm>

#include "core/kernels/map.h"
#include "core/kernels/more_kernels.h"
#include "core/parallel.h"

namespace heed::inline HEED_REAL::kernels {

void dropout(int64_t n, const StreamKey& stream, double probability, const real* x,
             Destination to) {
  const DropoutRule rule(probability);
  constexpr int64_t piece = 256;  // random words drawn at once
  static_assert(chunk_elements % piece == 0);
  parallel_for(n, chunk_elements, [=](int64_t first, int64_t last) {
    uint32_t words[piece];
    for (int64_t i = first; i < last; i += piece) {
      const int64_t here = std::min(piece, last - i);
      philox_words(stream, static_cast<uint64_t>(i / 4), (here + 3) / 4, words);
      const real* from = x + i;
      const uint32_t* w = words;
      map_range(0, here, {to.data + i, to.accumulate},
                [=](int64_t j) { return w[j] < rule.threshold ? real{0} : rule.scale * from[j]; });
    }
  });
}

}  // namespace heed::inline HEED_REAL::kernels
