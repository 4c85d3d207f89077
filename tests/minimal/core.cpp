// What the op tables ask of threads and memory, in a program with the minimal core: it has one
// thread, and counts no bytes.
#include "core/parallel.h"
#include "core/pool.h"

namespace heed::inline HEED_REAL {

int thread_count() { return 1; }
void set_thread_count(int) {}
PoolStatistics pool_statistics() { return {}; }

}  // namespace heed::inline HEED_REAL
