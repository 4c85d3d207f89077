// Scores of kinds of examples, such as those of one length.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/inference/scores.h"
#include "data/corpus.h"

namespace heed {

// Sorts examples into kinds: by the word "length", that is by source_lengths(), or by a regular
// expression (POSIX extended) that is searched in the source. What its first group matches is the
// kind, or the whole match if there is no group. The word "position" sorts targets by the positions
// of their inputs. The name of a group of the examples (Corpus::groups) sorts by its values;
// "group" is the name of groups that have none.
class Kinds {
 public:
  // Throws InputError, with the option's name, for a regular expression that is not one.
  explicit Kinds(const std::string& by);
  ~Kinds();
  Kinds(const Kinds&) = delete;
  Kinds& operator=(const Kinds&) = delete;

  // Returns the fraction that kinds have besides losses: exact match, or token accuracy by position
  // and of examples without an expected output; null: targets are numbers. `by`: perhaps "".
  static const Score* fraction(const std::string& by, const Experiment& experiment,
                               const Corpus& corpus);
  // Returns the scores of each kind of the examples of a dataset from their details, in the order
  // of the numbers in their names. Sources without a match are the kind "no match", the last one.
  // Throws InputError if no source has a match.
  std::vector<KindScores> scores(const SplitScores& split, const Corpus& corpus,
                                 const Dataset& dataset) const;

 private:
  struct Expression;
  std::string by_;
  std::unique_ptr<Expression> expression_;
};

}  // namespace heed
