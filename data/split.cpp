// Defines data/split.h: the hash that selects a split.
#include "data/split.h"

#include "core/random.h"

namespace heed {

uint64_t stable_hash(std::span<const int32_t> ids) {
  uint64_t hash = hash_start;
  for (const int32_t id : ids) hash = (hash ^ static_cast<uint32_t>(id)) * hash_prime;
  return mixed(hash);
}

}  // namespace heed
