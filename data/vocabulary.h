// The tokens and their ids: ordinary ones first, special ones last, so that adding one of these
// renumbers nothing. Number n of a task has id n. Padding is not a token: batches store lengths.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace heed {

// ---- the special tokens
inline constexpr const char* begin_token = "<bos>";      // start of a sequence
inline constexpr const char* end_token = "<eos>";        // its end
inline constexpr const char* separator_token = "<sep>";  // between source and target
inline constexpr const char* unknown_token = "<unk>";    // in place of any other token
bool is_special(std::string_view token);                 // one of the four

// Makes a StringMap searchable with a string_view. Clients do not need it.
struct StringHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};
template <class Value>
using StringMap = std::unordered_map<std::string, Value, StringHash, std::equal_to<>>;  // by string

class Vocabulary {
 public:
  static constexpr int32_t none = -1;  // in place of an id

  // Token i has id i. Throws InputError for an empty list or a repeated token.
  explicit Vocabulary(std::vector<std::string> tokens);

  int32_t size() const { return static_cast<int32_t>(tokens_.size()); }  // with the special ones
  const std::vector<std::string>& tokens() const { return tokens_; }     // by id
  // Returns the id of a token, special or not, or `none`.
  int32_t find(std::string_view token) const;
  // Throws Error for an id outside [0, size).
  const std::string& token(int32_t id) const;

  // ---- ids of the special tokens, or `none`
  int32_t begin() const { return begin_; }          // <bos>
  int32_t end() const { return end_; }              // <eos>
  int32_t separator() const { return separator_; }  // <sep>
  int32_t unknown() const { return unknown_; }      // <unk>

  // Makes begin(), end() and separator() `none`, for data whose examples have no such tokens.
  void disable_marks() { begin_ = end_ = separator_ = none; }

 private:
  std::vector<std::string> tokens_;
  StringMap<int32_t> ids_;
  int32_t begin_, end_, separator_, unknown_;
};

}  // namespace heed
