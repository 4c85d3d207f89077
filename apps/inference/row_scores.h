// How well a model predicts lines that have an input and the output that is expected.
#pragma once

#include "apps/inference/answers.h"

namespace heed {

// Answers with the mean loss of the expected output, "right" if every token of the output is the
// most likely one, else "wrong", and the line, with tabs between; or with an object. An
// encoder-decoder or a language model of pairs reads lines of input, tab, output; a model of labels
// lines of text, tab, label; one of examples reads examples: as in their data.
Answerer row_answerer(const Model& model, const Experiment& experiment, const Corpus& corpus,
                      const AnswerOptions& options);

}  // namespace heed
