// Defines parallel_for.h for the minimal build: one thread runs all chunks.
#include "core/parallel_for.h"

namespace heed::inline HEED_REAL {

void detail::run_chunks(int64_t chunks, int64_t /*work*/, void (*run)(void*, int64_t),
                        void* context) {
  for (int64_t chunk = 0; chunk < chunks; ++chunk) run(context, chunk);
}

}  // namespace heed::inline HEED_REAL
