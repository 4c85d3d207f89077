// How a pair of sequences becomes an example.
//
//   seq2seq          source x…             input <bos> y…           target y… <eos>
//   language_model   s = <bos> x… <sep> y… <eos>, of the special symbols those that the layout has;
//                    input s[0..n-1), target s[1..n), -1 where that is still <bos> x… <sep>
//   classifier       input x…                                        target the one y
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/vocabulary.h"

namespace heed {

struct Layout {
  Framing framing;
  int32_t begin, end, separator;  // ids, Vocabulary::none where there is no such symbol

  Layout(Framing framing, const Vocabulary& vocabulary);
  void lay_out(std::span<const int32_t> x, std::span<const int32_t> y, Example& example) const;
};

// Many sequences in one array.
class Sequences {
 public:
  int64_t size() const { return static_cast<int64_t>(starts_.size()) - 1; }
  std::span<const int32_t> operator[](int64_t i) const;
  void add(std::span<const int32_t> sequence);

 private:
  std::vector<int32_t> ids_;
  std::vector<size_t> starts_ = {0};
};

// Pairs of sequences held in memory.
class StoredPairs final : public Dataset {
 public:
  StoredPairs(Sequences x, Sequences y, Layout layout);
  int64_t size() const override { return y_.size(); }
  void get(int64_t i, Example& example) const override { layout_.lay_out(x_[i], y_[i], example); }

 private:
  Sequences x_, y_;
  Layout layout_;
};

}  // namespace heed
