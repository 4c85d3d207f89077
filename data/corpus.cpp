#include "data/corpus.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/text.h"
#include "data/augment.h"
#include "data/file_splits.h"
#include "data/files.h"
#include "data/program_corpus.h"
#include "data/tasks/task.h"

namespace heed {

static void set_lengths(Corpus& corpus) {
  if (corpus.framing != ModelKind::language_model) return;
  Example example;
  corpus.splits.begin()->second.get(0, example);
  if (example.prompt == 0 || corpus.target->vocabulary().end() != Vocabulary::none) return;
  corpus.prompt_length = example.prompt;
  corpus.target_length = std::count_if(example.target.begin(), example.target.end(),
                                       [](int32_t id) { return id >= 0; });
}

static std::string fingerprint_text(uint64_t hash) { return fmt::format("{:016x}", hash); }

Corpus load_corpus(const DataOptions& options, ModelKind framing, uint64_t seed,
                   const ExistingVocabulary& existing, bool at_positions,
                   const ExampleProgram* program, int64_t queries) {
  check_options(options, framing);
  check(!existing.source == !existing.target,
        "load_corpus: ExistingVocabulary has a source or a target only; set both, to one object, "
        "or to one for each side of pairs");
  if (options.seed >= 0) seed = static_cast<uint64_t>(options.seed);
  const DataKind& kind = *options.kind;
  Files files;
  check(options.command.empty() == !program, "load_corpus: a command needs its program");
  const LoadRequest request{framing, at_positions, queries, existing};
  Corpus corpus = program          ? load_program(options, seed, *program, files, request)
                  : kind.is_task() ? load_task(options, framing, seed)
                                   : kind.load(options, files, request);
  corpus.framing = framing;
  set_lengths(corpus);
  if (!options.augment.empty())
    corpus.splits.at("train").augment =
        augmentation(options.augment, corpus.grid, kind.uses("patch") ? options.patch : 1, seed);
  corpus.seed = seed;
  corpus.files = files.paths();
  for (const uint64_t hash : files.fingerprints())
    corpus.file_fingerprints.push_back(fingerprint_text(hash));
  const std::string drawn = kind.is_task() ? fmt::format("drawn with {}\n", seed) : "";
  corpus.fingerprint =
      fingerprint_text(stable_hash(describe(options) + drawn, files.fingerprint()));
  return corpus;
}

std::span<const int32_t> source_of(const Corpus& corpus, const Example& example) {
  if (corpus.format.two_sources) return example.source;
  if (corpus.format.features > 0) return {};
  if (corpus.framing == ModelKind::seq2seq) return example.source;
  std::span<const int32_t> ids = example.input;
  if (corpus.framing == ModelKind::classifier) return ids;
  if (example.prompt > 0) ids = ids.first(static_cast<size_t>(example.prompt));
  const Vocabulary& vocabulary = (corpus.target ? corpus.target : corpus.source)->vocabulary();
  if (!ids.empty() && ids.front() == vocabulary.begin()) ids = ids.subspan(1);
  if (!ids.empty() && ids.back() == vocabulary.separator()) ids = ids.first(ids.size() - 1);
  return ids;
}

int64_t source_length(const Corpus& corpus, const Example& example) {
  return corpus.format.features > 0 ? example.positions : std::ssize(source_of(corpus, example));
}

void check_fingerprint(const std::string& text) {
  check_input(text.size() == 16 && text.find_first_not_of("0123456789abcdef") == text.npos,
              "expected the fingerprint of data, 16 hexadecimal digits, found {}",
              in_quotes(shortened(text)));
}

std::string files_fingerprint(const std::string& fingerprint, const DataOptions& options) {
  check_fingerprint(fingerprint);
  if (options.kind->is_task()) return "";
  const uint64_t hash = std::stoull(fingerprint, nullptr, 16);
  return fingerprint_text(hash_before(describe(options), hash));
}

}  // namespace heed
