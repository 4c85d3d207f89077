// A memory pool for everything that lives shorter than a training step.
//
// A freed block goes to the free list of its size class (four classes per doubling, 64-byte
// aligned), and the next allocation of that class reuses it. After two steps of equal shapes the
// pool no longer calls the operating system. Once warm, a request whose free list is empty takes a
// larger free block instead, so that batches of varying length need no system calls either. Under
// the address sanitizer freed blocks are not kept, so that a use after free is detected.
//
// Each thread has its own pool. Any thread may free a block: a block that another thread frees goes
// back to the pool that it came from, which takes it in with its next request. So a thread that
// computes what another one destroys reuses the same blocks again and again. The pool of a thread
// that has ended keeps its blocks until a new thread takes it over (per_thread.h).
//
// The pools together take no more memory from the system than it has left: a request that does not
// fit throws Error before the kernel would end a process. What is left (available_memory()) is read
// again each time that the pools have taken another 64 MiB, so a warm step does not read it. In a
// scope with shapes_only, blocks are counted as usual, but large ones are addresses without memory:
// they always fit, and none is kept.
#pragma once

#include <cstdint>

#include "core/memory.h"

namespace heed::inline HEED_REAL {

// Of the pool of one thread: a block counts for the thread that allocated it, whoever frees it.
struct PoolStatistics {
  int64_t live_bytes = 0;    // allocated now
  int64_t peak_bytes = 0;    // maximum of live_bytes since the last pool_reset_peak()
  int64_t held_bytes = 0;    // obtained from the system, allocated or free
  int64_t system_calls = 0;  // requests that no free block could serve
};

// Of the calling thread.
PoolStatistics pool_statistics();
void pool_reset_peak();
// Returns every free block to the system; the pool is cold again.
void pool_trim();

// An object that belongs to a block: pool_free(block) calls end(object). Clients do not need it.
struct PoolAttachment {
  void* object = nullptr;  // null: none
  void (*end)(void* object) = nullptr;
};
// Returns what is attached to a block that pool_allocate() has returned. Threads that use it at
// once need a lock of theirs.
PoolAttachment& pool_attachment(void* block);

// Whether blocks asked for in a scope with shapes_only are memory like any other, so that a step
// without its loops takes the time that it takes with them (lab/measure/overhead.h).
inline constinit thread_local bool pool_backs_shapes = false;

// Makes all pools ask `available` how many bytes this process can still use, from their next
// request to the system on, instead of available_memory() (core/system_memory.h). For tests.
// Returns the function that they asked before.
using AvailableMemory = double (*)();
AvailableMemory pool_ask(AvailableMemory available);

}  // namespace heed::inline HEED_REAL
