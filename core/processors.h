// The processors that this process may use, as Linux reports them. Elsewhere heed uses as many
// threads as the machine has hardware threads, and binds none.
#pragma once

#include "core/real.h"

namespace heed::inline HEED_REAL {

// Returns the number of cores that the processors of this process belong to; hyper-threads of one
// core count once.
int physical_cores();
// Returns the number in the environment variable OMP_NUM_THREADS, the first one of a list; 0 if it
// is not set, or not a number of at least 1.
int requested_threads();
// Returns whether something bound the calling thread to some of the machine's processors.
bool is_bound();
// Lets the calling thread run on all processors that the program may use. OMP_PROC_BIND binds the
// main thread to one of them before main() begins, and a child process would inherit that.
void untie_thread();

}  // namespace heed::inline HEED_REAL
