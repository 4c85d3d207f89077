// Lays out a pair of sequences x, y as an example.
//
//   seq2seq          source x…             input <bos> y…           target y… <eos>
//   language_model   s = <bos> x… <sep> y… <eos>, with those special tokens that the layout has;
//                    input s[0..n-1), target s[1..n), -1 where that is part of <bos> x… <sep>
//   classifier       input x…                                       target the one label y
#pragma once

#include <cstdint>
#include <span>

#include "data/dataset.h"
#include "data/vocabulary.h"

namespace heed {

struct Layout {
  Framing framing;
  int32_t begin, end, separator;  // ids, or Vocabulary::none

  Layout(Framing framing, const Vocabulary& vocabulary);
  void lay_out(std::span<const int32_t> x, std::span<const int32_t> y, Example& example) const;
};

}  // namespace heed
