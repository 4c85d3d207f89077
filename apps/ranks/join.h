// Joining the other processes that mpirun started (core/ranks.h).
//
//   mpirun -n 4 ./heed train configs/shakespeare.toml
//
// MPI is not part of the program: heed-openmpi.so and heed-mpich.so stand beside it (apps/ranks/
// mpi.cpp, compiled for each of the two), and a process that one of their mpiruns started loads
// that of its own. All others need no MPI.
#pragma once

#include <memory>

#include "core/ranks.h"

namespace heed {

// Returns what connects the ranks, or null if this process was not started as one of several. Ranks
// other than 0 then print nothing but errors. Throws InputError if this build has no MPI.
std::unique_ptr<Ranks> join_ranks();

// Ends all ranks with this exit code after an error of this one, which it prints unless an earlier
// rank, with the same error, did so before.
[[noreturn]] void abort_ranks(Ranks& ranks, int code, const std::string& error);

// What a library of MPI defines. `ended` returns whether the process was told to end, after which a
// rank waits for others no longer than half a second.
using OpenRanks = Ranks*(bool (*ended)());
inline constexpr const char* open_ranks_name = "heed_open_ranks";

}  // namespace heed
