// Prints the losses of the first steps of a config, one a line, trained by the library in double:
// what the module in double is compared with.
//   native_double CONFIG STEPS
#include <fmt/core.h>

#include <cstdlib>

#include "apps/config/config.h"
#include "apps/training/trainer.h"

int main(int, char** arguments) {
  heed::Experiment experiment;
  heed::ConfigSource::read(arguments[1]).fill(experiment);
  const heed::Corpus corpus = heed::load_corpus(experiment.data, experiment.model.kind,
                                                static_cast<uint64_t>(experiment.seed));
  heed::Trainer trainer(experiment, corpus);
  for (int left = std::atoi(arguments[2]); left > 0; --left)
    fmt::print("{}\n", trainer.step().loss);
}
