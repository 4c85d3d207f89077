// What the exercise beam-search is given: a model and options.
#pragma once

#include <functional>
#include <vector>

namespace heed::course {

// log p of each of the vocab tokens after these tokens.
using NextLogProbabilities = std::function<std::vector<double>(const std::vector<int>& tokens)>;

struct BeamOptions {
  int beam = 1;        // hypotheses that grow at a time
  int end = 0;         // the token that completes a text
  int max_length = 1;  // of the tokens of a text, without the end token
  double length_penalty = 0;
};

}  // namespace heed::course
