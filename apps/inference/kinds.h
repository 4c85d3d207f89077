// Scores of kinds of examples, such as those of one length.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/inference/evaluation.h"
#include "data/corpus.h"

namespace heed {

struct KindScores {
  std::string kind;
  int64_t examples = 0, correct = 0, targets = 0;
  double loss = 0;  // sum over targets

  double exact_match() const {
    return static_cast<double>(correct) / static_cast<double>(examples);
  }
  double mean_loss() const;
};

// Sorts examples into kinds: by the word "length", that is by source_lengths(), or by a regular
// expression (POSIX extended) that is searched in the source. What its first group matches is the
// kind, or the whole match if there is no group.
class Kinds {
 public:
  // Throws InputError, with the option's name, for a regular expression that is not one.
  explicit Kinds(const std::string& by);
  ~Kinds();
  Kinds(const Kinds&) = delete;
  Kinds& operator=(const Kinds&) = delete;

  // Returns the scores of each kind of the examples of a dataset, in the order of the numbers in
  // their names. Sources without a match are the kind "no match", the last one. Throws InputError
  // if no source has a match.
  std::vector<KindScores> scores(const std::vector<Outcome>& outcomes, const Corpus& corpus,
                                 const Dataset& dataset) const;

 private:
  struct Expression;
  std::string by_;
  std::unique_ptr<Expression> expression_;
};

}  // namespace heed
