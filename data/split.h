// Decides which examples are held out, from the example itself.
//
// The hash of an example's input, divided by the largest hash, is a number in [0, 1) that selects
// the split: below test_fraction test, below test_fraction + val_fraction validation, otherwise
// training. So an input is in only one split, for any seed and any number of examples. A split that
// has a file of its own leaves its range to training, and the range of the other where it is.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/fields.h"

namespace heed {

// 64 bits, the same on every machine: FNV-1a (Fowler, Noll, Vo) over bytes or over ids, then
// SplitMix64's finaliser, since FNV's high bits are poor for short inputs. `hash` continues from a
// previous result.
inline constexpr uint64_t hash_start = 0xCBF29CE484222325;
uint64_t stable_hash(std::string_view bytes, uint64_t hash = hash_start);
uint64_t stable_hash(std::span<const int32_t> ids);
// The inverse: returns the hash h for which stable_hash(bytes, h) is `hash`.
uint64_t hash_before(std::string_view bytes, uint64_t hash);

enum class Split { train, val, test };
inline constexpr Named<Split> split_names[] = {
    {"train", Split::train}, {"val", Split::val}, {"test", Split::test}};

// Fractions of the examples that are held out.
struct SplitFractions {
  double val = 0, test = 0;
  bool shifted = false;  // with a file for the test, the range of validation begins at 0

  Split split_of(uint64_t hash) const {
    const double fraction = static_cast<double>(hash >> 11) * 0x1p-53;
    return fraction < test ? Split::test : fraction < test + val ? Split::val : Split::train;
  }
};

// Assigns the examples of files to splits. `hashes` has the hashes of the examples of the training
// file, in order, and of the validation and test files, if there are any. Returns the indices of
// the examples of each split in its file. A split without a file gets `fractions` of the training
// file. The range of a split that has a file belongs to training. Adds a note on examples that
// other files share with training. Throws InputError for an empty split. The message has the path
// of the training file and `noun`, the word for an example.
std::map<Split, std::vector<size_t>> assign_splits(
    const std::map<Split, std::vector<uint64_t>>& hashes, SplitFractions fractions,
    const std::string& path, const char* noun, std::vector<std::string>& notes);

}  // namespace heed
