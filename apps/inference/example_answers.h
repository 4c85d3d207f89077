// Answers lines that are examples of the data that a model was trained on.
#pragma once

#include "apps/inference/answers.h"

namespace heed {

// Returns whether a model of these data reads vectors, or predicts numbers.
bool answers_examples(const Corpus& corpus);

// Answers a text, or where the model reads vectors an object such as {"input": [[0.1, 2], [0, 1]]},
// whose target is not read. The answer has the numbers, labels or tokens that the model predicts at
// the positions, or for the whole, with blanks between; or it is an object.
Answerer example_answerer(const Model& model, const Experiment& experiment, const Corpus& corpus,
                          const AnswerOptions& options);

// Answers with the mean loss of the expected output, "right" if every token of the output is the
// most likely one, else "wrong", and the line, with tabs between; or with an object. An
// encoder-decoder or a language model of pairs reads lines of input, tab, output; a model of labels
// lines of text, tab, label; one of examples reads examples: as in their data.
Answerer row_answerer(const Model& model, const Experiment& experiment, const Corpus& corpus,
                      const AnswerOptions& options);

// Returns a list with null for NaN, or the one number of the whole.
Json numbers_json(const std::vector<double>& numbers);

}  // namespace heed
