// How often a test program has asked the system for memory: calls to operator new, in all its
// forms, and to mmap, counted by replacing them.
#pragma once

#include <cstdint>

// Under a sanitizer these are the sanitizer's, and nothing is counted.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool allocations_are_counted = false;
#else
inline constexpr bool allocations_are_counted = true;
#endif

int64_t allocations();
