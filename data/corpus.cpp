#include "data/corpus.h"

#include <fmt/core.h>

#include <algorithm>

#include "data/files.h"
#include "data/split.h"
#include "data/tasks/task.h"

namespace heed {

void Corpus::measure(const Example& example) {
  longest_source = std::max(longest_source, static_cast<int64_t>(example.source.size()));
  longest_input = std::max(longest_input, static_cast<int64_t>(example.input.size()));
  most_edges = std::max(most_edges, static_cast<int64_t>(example.sender.size()));
  if (format.features == 0) return;
  int64_t& longest = framing == Framing::seq2seq ? longest_source : longest_input;
  longest = std::max(longest, static_cast<int64_t>(example.features.size()) / format.features);
}

Corpus load_corpus(const DataOptions& options, Framing framing, uint64_t seed) {
  check_options(options, framing);
  if (options.seed >= 0) seed = static_cast<uint64_t>(options.seed);
  const DataKind& kind = *options.kind;
  Files files;
  Corpus corpus = kind.is_task() ? load_task(options, framing, seed) : kind.load(options, files);
  corpus.framing = framing;
  corpus.seed = seed;
  corpus.files = files.paths();
  const std::string drawn = kind.is_task() ? fmt::format("drawn with {}\n", seed) : "";
  corpus.fingerprint =
      fmt::format("{:016x}", stable_hash(describe(options) + drawn, files.fingerprint()));
  return corpus;
}

}  // namespace heed
