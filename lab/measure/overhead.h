// What a training step costs besides its arithmetic.
#pragma once

#include "apps/config/experiment.h"
#include "data/corpus.h"

namespace heed {

struct Overhead {
  double step = 0;  // seconds of a step
  // Seconds of a step in a scope with shapes_only (core/scope.h), which runs no loop: it assembles
  // the batch, checks shapes, takes memory from the pool and builds and walks the graph. That
  // memory is never written, so a block of more than 1 MiB costs a little less than in a step.
  double without_loops = 0;
  int64_t loops = 0;  // parallel loops of a step that run on several threads
  double loop = 0;    // seconds of a loop of several threads that does nothing: start and barrier
};

// Trains for `seconds`, half of them without loops, at least three steps each, after three warm-up
// steps. Times are medians. Throws as Trainer does.
Overhead measure_overhead(const Experiment& experiment, const Corpus& corpus, double seconds);

}  // namespace heed
