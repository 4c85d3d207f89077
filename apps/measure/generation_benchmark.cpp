#include "apps/measure/generation_benchmark.h"

#include <algorithm>

#include "apps/inference/generation.h"
#include "apps/support/clock.h"
#include "core/check.h"
#include "core/scope.h"

namespace heed {

GenerationResult run_generation(const BenchmarkSize& size, const GenerationTask& task,
                                double seconds) {
  check(size.source == 0, "generation: size {} is an encoder-decoder", size.name);
  const Experiment experiment = benchmark_experiment(size);
  const Corpus corpus = benchmark_corpus(size);
  ScopeGuard here;
  here->seed = 1;
  const LanguageModel model(experiment.model, model_sizes(experiment, corpus));
  ContinuationOptions options;
  options.count = options.batch_size = task.batch;
  options.cache = task.cache;
  options.window = size.input;
  const Sequence prompt = {0};
  int64_t written = 0;
  const auto write = [&] {
    for (const Sequence& text :
         continuations(model, corpus.target->vocabulary(), {&prompt, 1}, options))
      written += std::ssize(text);
    ++options.seed;
  };
  options.max_length = std::min<int64_t>(8, size.input);
  write();
  options.max_length = size.input;
  written = 0;
  const double start = now();
  GenerationResult result;
  do {
    write();
    result.seconds = now() - start;
  } while (result.seconds < seconds);
  result.parameters = model.parameter_count();
  result.tokens = written;
  result.positions = size.input;
  return result;
}

}  // namespace heed
