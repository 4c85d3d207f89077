// The symbols a model knows, each with its number, its id.
//
// Ordinary symbols come first (a task's number n has id n; characters and words are in the order of
// their bytes, which for UTF-8 is that of their code points), special ones last, so that a special
// symbol more or less renumbers nothing. Padding is a length, never a symbol.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace heed {

// The special symbols: the start and the end of a sequence, what stands between a problem and its
// answer, and the one in place of every symbol that is not known.
inline constexpr const char* begin_symbol = "<bos>";
inline constexpr const char* end_symbol = "<eos>";
inline constexpr const char* separator_symbol = "<sep>";
inline constexpr const char* unknown_symbol = "<unk>";
bool is_special(std::string_view symbol);

// Lets a map of strings be asked with a string_view.
struct StringHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};
template <class Value>
using StringMap = std::unordered_map<std::string, Value, StringHash, std::equal_to<>>;

class Vocabulary {
 public:
  static constexpr int32_t none = -1;

  // The symbol at place i has id i. Throws InputError for none at all, or one that comes twice.
  explicit Vocabulary(std::vector<std::string> symbols);

  int32_t size() const { return static_cast<int32_t>(symbols_.size()); }
  const std::vector<std::string>& symbols() const { return symbols_; }
  // The id of a symbol, special ones too, or `none`.
  int32_t find(std::string_view symbol) const;
  // Throws Error for an id outside [0, size).
  const std::string& symbol(int32_t id) const;

  // Ids of the special symbols, `none` where the vocabulary does not have them.
  int32_t begin() const { return begin_; }
  int32_t end() const { return end_; }
  int32_t separator() const { return separator_; }
  int32_t unknown() const { return unknown_; }

 private:
  std::vector<std::string> symbols_;
  StringMap<int32_t> ids_;
  int32_t begin_, end_, separator_, unknown_;
};

// Counts symbols, to choose a vocabulary from the training side.
class SymbolCounts {
 public:
  void add(std::string_view symbol);
  // The symbols seen at least `least` times, of those the `most` frequent ones (0: all; among
  // equals the first in order), in order. Special symbols that stand in a text are left out.
  std::vector<std::string> chosen(int64_t least, int64_t most) const;

 private:
  StringMap<int64_t> counts_;
};

}  // namespace heed
