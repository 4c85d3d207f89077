#include "data/corpus.h"

#include <fmt/core.h>

#include "data/files.h"
#include "data/split.h"
#include "data/tasks/task.h"

namespace heed {

Corpus load_corpus(const DataOptions& options, Framing framing, uint64_t seed,
                   const ExistingVocabulary& existing) {
  check_options(options, framing);
  if (options.seed >= 0) seed = static_cast<uint64_t>(options.seed);
  const DataKind& kind = *options.kind;
  Files files;
  Corpus corpus =
      kind.is_task() ? load_task(options, framing, seed) : kind.load(options, files, existing);
  corpus.framing = framing;
  corpus.seed = seed;
  corpus.files = files.paths();
  const std::string drawn = kind.is_task() ? fmt::format("drawn with {}\n", seed) : "";
  corpus.fingerprint =
      fmt::format("{:016x}", stable_hash(describe(options) + drawn, files.fingerprint()));
  return corpus;
}

}  // namespace heed
