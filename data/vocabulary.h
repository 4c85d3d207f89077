// The tokens and their ids: ordinary ones first, special ones last, so that adding one of these
// renumbers nothing.
//
// The number n of a task has id n. Padding is not a token: batches store lengths.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace heed {

// The special tokens: start and end of a sequence, separator between source and target, and the
// replacement for tokens that are not in the vocabulary.
inline constexpr const char* begin_token = "<bos>";
inline constexpr const char* end_token = "<eos>";
inline constexpr const char* separator_token = "<sep>";
inline constexpr const char* unknown_token = "<unk>";
bool is_special(std::string_view token);

// A map from strings that can be searched with a string_view. Clients do not need it.
struct StringHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};
template <class Value>
using StringMap = std::unordered_map<std::string, Value, StringHash, std::equal_to<>>;

class Vocabulary {
 public:
  static constexpr int32_t none = -1;

  // Token i has id i. Throws InputError for an empty list or a repeated token.
  explicit Vocabulary(std::vector<std::string> tokens);

  int32_t size() const { return static_cast<int32_t>(tokens_.size()); }
  const std::vector<std::string>& tokens() const { return tokens_; }
  // Returns the id of a token, special or not, or `none`.
  int32_t find(std::string_view token) const;
  // Throws Error for an id outside [0, size).
  const std::string& token(int32_t id) const;

  // Ids of the special tokens, or `none`.
  int32_t begin() const { return begin_; }
  int32_t end() const { return end_; }
  int32_t separator() const { return separator_; }
  int32_t unknown() const { return unknown_; }

  // Makes begin(), end() and separator() `none`: for data whose examples have no such tokens, read
  // with the vocabulary of data that have them.
  void disable_marks() { begin_ = end_ = separator_ = none; }

 private:
  std::vector<std::string> tokens_;
  StringMap<int32_t> ids_;
  int32_t begin_, end_, separator_, unknown_;
};

}  // namespace heed
