// What this machine can do, measured here and now, with the threads and in the precision that all
// else runs with: what a time is to be compared with (Williams, Waterman & Patterson 2009,
// "Roofline").
#pragma once

#include "core/scope.h"

namespace heed {

// Products of square matrices, some of which fit a cache: the size that does best, its median, in
// FLOP/s.
double gemm_rate(Precision precision);

// The fastest of a few sums of arrays that fit no cache, in bytes/s: what is read and what is
// written, each counted once (McCalpin 1995, "STREAM", its Add). Takes 384 MiB meanwhile.
double memory_bandwidth();

}  // namespace heed
