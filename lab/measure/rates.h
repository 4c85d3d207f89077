// The limits of this machine, measured once per process with the threads and in the precision of
// the program. Times are compared with them (Williams, Waterman & Patterson 2009, "Roofline").
#pragma once

#include "core/scope.h"

namespace heed {

// Returns the rate of products of square matrices in FLOP/s: the median of the fastest of several
// sizes; the small ones fit a cache.
double gemm_rate(Precision precision);

// Returns the bandwidth of memory in bytes/s: the fastest of a few sums of two arrays that fit no
// cache, each array counted once (McCalpin 1995, "STREAM", its Add). Needs 384 MiB.
double memory_bandwidth();

// Returns the rate at which all threads together read memory, in bytes/s: the fastest of a few sums
// of an array of 512 MiB. The limit of generating one text, whose every token reads all weights.
double read_bandwidth();

}  // namespace heed
