// Random tokens without repeats, s, that are repeated once: what an induction head reads. They are
// laid out as the inspected examples are, with their special tokens and within their lengths:
//
//   text, lines                                           <bos> s s
//   tasks with a source and a target of |s| tokens each   s <sep> s
//   other tasks                                           s s <sep>
//
// One period n = |s| does not tell an induction head from a head that looks back by a fixed number
// of positions. So there are up to three periods, none a divisor of another.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/random.h"
#include "lab/inspect/inspected.h"

namespace heed {

class RepeatedTokens {
 public:
  explicit RepeatedTokens(const Inspected& inspected);

  // The largest first. Fewer than three where the examples have no room for more. None for models
  // other than language models.
  const std::vector<int64_t>& periods() const { return periods_; }
  // Returns whether the model learns to predict tokens at the positions of the repeated ones: not
  // where the examples have targets other than the next token.
  bool has_targets() const { return predicts_next_ && place_ != Place::source; }
  // Returns the position of the first repeated token.
  int64_t first(int64_t period) const { return begin_ + distance(period); }
  // Returns the number of positions from a token to its repetition.
  int64_t distance(int64_t period) const {
    return period + (place_ == Place::source_and_target ? separator_ : 0);
  }
  // Draws `rows` sequences.
  Batch batch(int64_t period, int64_t rows, Random& random) const;

 private:
  enum class Place { target, source_and_target, source };
  void choose_place();
  void choose_periods(int64_t least, int64_t most);

  const Inspected& inspected_;
  std::vector<int32_t> ordinary_;                // ids of the tokens that are not special
  int64_t begin_ = 0, separator_ = 0, end_ = 0;  // the number of each in an example: 0 or 1
  Place place_ = Place::target;
  bool predicts_next_ = true;
  std::vector<int64_t> periods_;
};

// What a language model does with repeated tokens.
struct Induction {
  std::vector<int64_t> periods;
  // The mean attention from a repeated token to the one after its first occurrence, by layer, head
  // and period.
  std::map<std::string, std::vector<std::vector<double>>> matching;
  // The mean loss on the repeated tokens but the first, by period. Empty without targets.
  std::vector<double> losses;
};
// Computes forward passes without gradients. Taps of the caller act.
Induction induction_of(const Inspected& inspected);

}  // namespace heed
