// Decides which examples are held out, from the example itself: no seed and no number of examples
// can move an example from one split to another.
//
// The hash of an example's input, divided by 2⁶⁴, is a number in [0, 1) that selects the split:
// below test_fraction test, below test_fraction + val_fraction validation, otherwise training.
#pragma once

#include <cstdint>
#include <span>

#include "core/random.h"

namespace heed {

inline constexpr uint64_t hash_start = 0xCBF29CE484222325, hash_prime = 0x100000001B3;  // FNV-1a's
// 64 bits, the same on every machine: FNV-1a (Fowler, Noll, Vo) over ids, then SplitMix64's
// finaliser, since FNV's high bits are poor for short inputs.
inline uint64_t stable_hash(std::span<const int32_t> ids) {
  uint64_t hash = hash_start;
  for (const int32_t id : ids) hash = (hash ^ static_cast<uint32_t>(id)) * hash_prime;
  return mixed(hash);
}

enum class Split { train, val, test };  // of the examples; val: validation

// Fractions of the examples that are held out.
struct SplitFractions {
  double val = 0, test = 0;  // from 0 to 1, together at most 1

  Split split_of(uint64_t hash) const {  // the split of an input with this hash
    const double fraction = static_cast<double>(hash >> 11) * 0x1p-53;
    return fraction < test ? Split::test : fraction < test + val ? Split::val : Split::train;
  }
};

}  // namespace heed
