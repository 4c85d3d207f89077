// From text to ids and back: a vocabulary and the level its symbols are of.
//
// All that generation needs from the data: it is rebuilt from a level and a list of symbols.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/tokens.h"
#include "data/vocabulary.h"

namespace heed {

class TextCodec {
 public:
  // At the level of bytes the first 256 symbols are byte_symbols(). Throws InputError otherwise, or
  // for what a Vocabulary refuses.
  TextCodec(Level level, std::vector<std::string> symbols);

  Level level() const { return level_; }
  const Vocabulary& vocabulary() const { return vocabulary_; }

  // A token that is not in the vocabulary becomes <unk> if that is in it. Throws InputError that
  // names the token if not, or the place where the text is not UTF-8. A special symbol spelled out
  // in a text is a token like another, never the special one.
  std::vector<int32_t> encode(std::string_view text) const;
  // The same, but adds to `ids`, puts Vocabulary::none for what is not known and throws nothing.
  void append(std::string_view text, std::vector<int32_t>& ids) const;
  // What a language model is given to go on from: <bos> text <sep>, of the special symbols those
  // that the vocabulary has. Throws as encode() does.
  std::vector<int32_t> prompt(std::string_view text) const;

  // Without <bos> and <eos>; words with one space between. At the level of bytes the result need
  // not be UTF-8: see printable(). Throws Error for an id that is not in the vocabulary.
  std::string decode(std::span<const int32_t> ids) const;

 private:
  int32_t id_of(std::string_view token) const;

  Level level_;
  Vocabulary vocabulary_;
};

// "00" … "ff": how the 256 bytes are written as symbols.
std::vector<std::string> byte_symbols();

}  // namespace heed
