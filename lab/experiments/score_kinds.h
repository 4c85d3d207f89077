// How the values of a name such as "val.loss", "seconds" or "heads.induction" are compared: those
// of a score (apps/config/score.h), of a number of a run, or of a measure of this program
// (apps/training/measures.h). Other names count as losses do, but by their difference.
#pragma once

#include <string>
#include <vector>

#include "apps/training/measures.h"

namespace heed {

// The measures of lab, which bring the kinds of their numbers: lab/inspect/measures.cpp.
extern const Measures inspect_measures;

// Returns whether a lower value of the score is the better one: "val.loss", "perplexity",
// "seconds".
bool lower_is_better(const std::string& score);
// Returns whether two values of the score are compared by their ratio: losses, perplexities, times
// and speeds, where equal factors are equal gains. Others, such as accuracies, are compared by
// their difference.
bool is_compared_by_ratio(const std::string& score);
// Returns the largest value that a score can have: 1 of fractions such as accuracies, 100 of BLEU
// and chrF, else infinity. The smallest value of such a bounded score is 0.
double maximum_of(const std::string& score);
// Throws InputError, with the names that there are, if a text that is not empty is no name of a
// score such as "val.loss", "seconds" or "heads.1.0.induction". Whether a run has it is another
// question.
void check_score_names(const char* option, const std::vector<std::string>& scores);
// Returns whether the value is better than the other one.
bool is_better(const std::string& score, double value, double other);

}  // namespace heed
