// What `heed bench --generate` measures: how fast the language models of apps/measure/benchmark.h
// write. Each text begins with one token and goes on until every position of the model is read. The
// weights are those that training begins with, so that what is written means nothing; it takes as
// long.
#pragma once

#include <cstdint>

#include "apps/measure/benchmark.h"

namespace heed {

struct GenerationTask {
  int64_t batch = 1;  // texts side by side
  bool cache = true;  // see nn/decoding.h
};

struct GenerationResult {
  int64_t parameters = 0;
  int64_t tokens = 0;     // that were written while time was taken
  double seconds = 0;     // for all of them
  int64_t positions = 0;  // tokens of a text

  double tokens_per_second() const { return static_cast<double>(tokens) / seconds; }
};

// Writes texts, again and again for so long, once at least, after the first tokens of one, whose
// time is not taken.
// Throws Error for a size that is no language model.
GenerationResult run_generation(const BenchmarkSize& size, const GenerationTask& task,
                                double seconds);

}  // namespace heed
