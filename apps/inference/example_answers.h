// Answers lines with what a model predicts for vectors, or with numbers.
#pragma once

#include "apps/inference/answers.h"

namespace heed {

// Returns whether a model of these data does: it reads vectors, or predicts numbers.
bool answers_examples(const Corpus& corpus);

// Answers a text, or where the model reads vectors an object such as {"input": [[0.1, 2], [0, 1]]},
// whose target is not read. The answer has the numbers, labels or tokens that the model predicts at
// the positions, or for the whole, with blanks between; or it is an object.
Answerer example_answerer(const Model& model, const Experiment& experiment, const Corpus& corpus,
                          const AnswerOptions& options);

// Returns a list with null for NaN, or the one number of the whole.
Json numbers_json(const std::vector<double>& numbers);

}  // namespace heed
