// A figure of scores by the length, the group or another kind of examples, or by position.
#pragma once

#include <string>
#include <vector>

#include "lab/experiments/kind_scores.h"

namespace heed {

struct FigureRequest {
  std::vector<std::string> paths;        // folders of runs, or of sweeps
  std::vector<std::string> scores = {};  // patterns (* and ?) of curves; empty: the deciding score
  bool by_run = false;                   // a line for each run; no groups
  bool log_x = false;
  KindRequest kinds = {};  // by kinds instead of steps, if kinds.by has them
};

// Evaluates every run. Returns a figure with a line for each score and group: its mean over seeds,
// or of one run its value, at each kind, with the 95 % intervals as a band. Kinds that are numbers,
// or end with one after equal words, have an axis of numbers. request.scores end with the scores to
// show, such as loss; empty: that of add_kind_scores(). Throws InputError as that does, and if no
// kind has a score.
std::string figure_of_kinds(const FigureRequest& request);

}  // namespace heed
