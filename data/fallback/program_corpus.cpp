// In place of data/program_corpus.cpp, where there are no threads.
#include "data/program_corpus.h"

#include "core/check.h"

namespace heed {

Corpus load_program(const DataOptions&, uint64_t, const ExampleProgram&, Files&,
                    const LoadRequest&) {
  throw InputError("`command`: this build starts no programs");
}

}  // namespace heed
