// Beam search: write the function below. The task is in course/exercises/beam-search/task.md;
// check it with
//
//   ./heed course check beam-search
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/ops.h"
#include "course/exercises/beam-search/model.h"

namespace heed::course {

// The tokens, without the end token, of the text with the highest score that a beam search finds.
std::vector<int> find_text(const NextLogProbabilities& next, const BeamOptions& options) {
  check(options.beam >= 1 && options.max_length >= 1 && !next({}).empty(), "find_text: no model");
  // Write this.
  return {};
}

}  // namespace heed::course
