// Writes examples as the lines that data.kind = "examples" reads (data/example_line.h).
#pragma once

#include <string>

#include "data/corpus.h"

namespace heed {

// Returns an example as a JSON object on a line, without a new line. A pair, and a prompt with its
// target, is a source and a target; an input with a label has both; a line or a window of a text is
// a list of inputs with a list of their targets. Vectors are lists of numbers, a graph has nodes
// and edges. Tokens are a text if it has the same tokens when it is read, else a list of them.
std::string example_row(const Corpus& corpus, const Example& example);

// Writes every example of a split. Throws InputError if they have no end.
void write_examples(const std::string& path, const Corpus& corpus, const Dataset& dataset);

}  // namespace heed
