// How well a model predicts lines that have an input and the output that is expected.
#pragma once

#include "apps/inference/line_output.h"
#include "nn/models.h"

namespace heed {

// Prints, for each line of input, the mean loss of its expected output, "right" if every token of
// the output is the most likely one, else "wrong", and the line, with tabs between; or an object.
// An encoder-decoder reads lines of input, tab, output; a classifier lines of label, tab, text, as
// in their data. Lines that cannot be read: see print_outputs(). Returns their number.
int64_t print_row_scores(const Model& model, const Corpus& corpus, const LineOutput& output);

}  // namespace heed
