#include "data/split.h"

namespace heed {

static constexpr uint64_t prime = 0x100000001B3;

static uint64_t finished(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

uint64_t stable_hash(std::string_view bytes, uint64_t hash) {
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * prime;
  return finished(hash);
}

uint64_t stable_hash(std::span<const int32_t> ids) {
  uint64_t hash = hash_start;
  for (const int32_t id : ids) hash = (hash ^ static_cast<uint32_t>(id)) * prime;
  return finished(hash);
}

}  // namespace heed
