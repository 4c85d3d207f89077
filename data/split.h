// Which examples are held out: a matter of the example alone, not of chance or order.
//
// The hash of an example's input, as a fraction of one, decides: below test_fraction it is for the
// test, in the next val_fraction for validation, else for training. So no input of one split is
// ever in another, whatever the seed, the sizes asked for and how often it occurs.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace heed {

// 64 bits, the same on every machine: FNV-1a (Fowler, Noll, Vo) over bytes or over ids, then
// SplitMix64's finaliser, since FNV's high bits are poor for short inputs. `hash` goes on from a
// previous result.
inline constexpr uint64_t hash_start = 0xCBF29CE484222325;
uint64_t stable_hash(std::string_view bytes, uint64_t hash = hash_start);
uint64_t stable_hash(std::span<const int32_t> ids);

enum class Split { train, val, test };
inline constexpr const char* split_names[] = {"train", "val", "test"};

struct Shares {
  double val = 0, test = 0;
  Split of(uint64_t hash) const {
    const double place = static_cast<double>(hash >> 11) * 0x1p-53;
    return place < test ? Split::test : place < test + val ? Split::val : Split::train;
  }
};

}  // namespace heed
