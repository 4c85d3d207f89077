// Splits the examples of files by their hashes (data/split.h), and hashes bytes.
//
// A split that has a file of its own leaves its range to training, and the range of the other where
// it is.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/named.h"
#include "data/split.h"

namespace heed {

// Each split with the name of its scores and files.
inline constexpr Named<Split> split_names[] = {
    {"train", Split::train}, {"val", Split::val}, {"test", Split::test}};

// stable_hash() over bytes. `hash` continues from a previous result.
uint64_t stable_hash(std::string_view bytes, uint64_t hash = hash_start);
// The inverse: returns the hash h for which stable_hash(bytes, h) is `hash`.
uint64_t hash_before(std::string_view bytes, uint64_t hash);

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
