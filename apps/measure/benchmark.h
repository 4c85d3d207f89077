// What `heed bench` measures: training steps of models of fixed sizes on a batch that never
// changes, random tokens that are to foretell random tokens. A change of the program is judged by
// these, and so is the distance to other programs (bench/compare).
#pragma once

#include <string>
#include <vector>

#include "apps/config/experiment.h"

namespace heed {

// Where there is a source it is an encoder-decoder, else a language model.
struct BenchmarkSize {
  const char* name;
  int64_t layers, heads, dim, feed_forward, vocabulary;
  int64_t source, input;  // Ts, or 0; T
  int64_t batch;
};

const std::vector<BenchmarkSize>& benchmark_sizes();
// Throws InputError, with the names there are, for another.
const BenchmarkSize& benchmark_size(const std::string& name);

// AdamW, the gradient clipped to norm 1; no dropout.
Experiment benchmark_experiment(const BenchmarkSize& size);
// Its training split is one batch: every step is on the same, so the loss falls.
Corpus benchmark_corpus(const BenchmarkSize& size);

struct BenchmarkResult {
  int64_t parameters = 0;
  int64_t steps = 0;   // that were timed
  double seconds = 0;  // of a step: the median
  int64_t tokens = 0;  // read in a step; of an encoder-decoder, by the decoder
  double loss = 0;     // of the last step
  double flops = 0;    // of a step, as apps/measure/costs.h counts them
  double gemm = 0;     // FLOP/s of the fastest product, in the same precision
  // In bytes: the most this process ever held; and of that what is more than it held before the
  // model and than 16 for each parameter, which weight, gradient and Adam's two moments need:
  // activations, temporaries and waste.
  double peak_memory = 0, working_memory = 0;

  double flops_per_second() const { return flops / seconds; }
};

// Trainer::step(), again and again for so long, three times at least, after three that are not
// timed. The peak is that of the whole process: for a memory that is this model's, call it once in
// a process. Throws InputError where the machine has not the memory.
BenchmarkResult run_benchmark(const Experiment& experiment, const Corpus& corpus, double seconds);

}  // namespace heed
