#include "data/file_splits.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <unordered_set>

#include "core/check.h"
#include "core/random.h"

namespace heed {

uint64_t stable_hash(std::string_view bytes, uint64_t hash) {
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * hash_prime;
  return mixed(hash);
}

// Returns x with a · x = 1 modulo 2⁶⁴, for odd a. Each step of Newton's method doubles the number
// of correct bits: a · a = 1 modulo 8.
static constexpr uint64_t inverse(uint64_t a) {
  uint64_t x = a;
  for (int bits = 3; bits < 64; bits *= 2) x *= 2 - a * x;
  return x;
}

// The inverse of mixed().
static uint64_t unmixed(uint64_t z) {
  z ^= (z >> 31) ^ (z >> 62);
  z *= inverse(0x94D049BB133111EB);
  z ^= (z >> 27) ^ (z >> 54);
  z *= inverse(0xBF58476D1CE4E5B9);
  return z ^ (z >> 30) ^ (z >> 60);
}

uint64_t hash_before(std::string_view bytes, uint64_t hash) {
  hash = unmixed(hash);
  for (size_t i = bytes.size(); i-- > 0;)
    hash = (hash * inverse(hash_prime)) ^ static_cast<unsigned char>(bytes[i]);
  return hash;
}

std::map<Split, std::vector<size_t>> assign_splits(
    const std::map<Split, std::vector<uint64_t>>& hashes, SplitFractions fractions,
    const std::string& path, const char* noun, std::vector<std::string>& notes) {
  const std::vector<uint64_t>& train = hashes.at(Split::train);
  std::map<Split, std::vector<size_t>> chosen;
  for (size_t i = 0; i < train.size(); ++i) {
    const Split split = fractions.split_of(train[i]);
    chosen[hashes.contains(split) ? Split::train : split].push_back(i);
  }
  const auto different = [&train]() -> std::string {
    const size_t count = std::unordered_set(train.begin(), train.end()).size();
    return count == train.size() ? "" : fmt::format(", which have {} different inputs,", count);
  };
  check_input(!train.empty(), "{}: there is no {} to train on", path, noun);
  check_input(!chosen[Split::train].empty(),
              "{}: none of {} {}s{} is left to train on: lower `val_fraction` or `test_fraction`",
              path, train.size(), noun, chosen[Split::train].empty() ? different() : "");
  std::unordered_set<uint64_t> trained;
  for (const size_t i : chosen[Split::train]) trained.insert(train[i]);

  for (const auto& [split, fraction] :
       {std::pair(Split::val, fractions.val), {Split::test, fractions.test}}) {
    const char* const name = name_of(split_names, split);
    std::vector<size_t>& indices = chosen[split];
    if (fraction > 0 && !hashes.contains(split) && indices.empty())
      throw InputError(
          fmt::format("{0}: none of {1} {2}s{4} falls into the split {3}: raise `{3}_fraction`, or "
                      "set it to 0 for no such split",
                      path, train.size(), noun, name, different()));
    if (!hashes.contains(split)) continue;
    const std::vector<uint64_t>& own = hashes.at(split);
    indices.resize(own.size());
    std::iota(indices.begin(), indices.end(), size_t{0});
    const auto common = std::count_if(own.begin(), own.end(),
                                      [&](uint64_t hash) { return trained.contains(hash); });
    if (common > 0)
      notes.push_back(fmt::format("{}: {} of {} {}s are also in the training data", name, common,
                                  own.size(), noun));
  }
  return chosen;
}

}  // namespace heed
