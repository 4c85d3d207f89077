// The data of data.command: what load_corpus() calls with a program.
#pragma once

#include "data/corpus.h"

namespace heed {

class Files;

// Returns all but what load_corpus() adds. Throws as it does.
Corpus load_program(const DataOptions& options, uint64_t seed, const ExampleProgram& program,
                    Files& files, const LoadRequest& request);

}  // namespace heed
