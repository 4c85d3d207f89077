#include "data/corpus.h"

#include <fmt/core.h>

#include <charconv>

#include "core/text.h"
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

std::string files_fingerprint(const std::string& fingerprint, const DataOptions& options) {
  uint64_t hash = 0;
  const char* const end = fingerprint.data() + fingerprint.size();
  const auto [stop, error] = std::from_chars(fingerprint.data(), end, hash, 16);
  check_input(error == std::errc() && stop == end && fingerprint.size() == 16,
              "expected the fingerprint of data, 16 hexadecimal digits, found {}",
              in_quotes(shortened(fingerprint)));
  if (options.kind->is_task()) return "";
  return fmt::format("{:016x}", hash_before(describe(options), hash));
}

}  // namespace heed
