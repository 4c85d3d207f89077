#include "apps/training/load_data.h"

#include "apps/inference/vocabulary_file.h"
#include "apps/support/files.h"
#include "apps/support/names.h"
#include "apps/training/example_program.h"
#include "apps/training/run_folder.h"
#include "core/check.h"

namespace heed {
namespace {

// Returns whether train.load loads parameters with a row for each token that is read.
bool loads_embeddings(const TrainOptions& train) {
  return matches_any("embedding.token.weight", train.load_names) ||
         matches_any("source_embedding.token.weight", train.load_names);
}

// Returns the run or file whose vocabulary to use, "" for none.
std::string origin_of(const Experiment& experiment) {
  const TrainOptions& train = experiment.train;
  if (!experiment.data.vocabulary.empty()) return experiment.data.vocabulary;
  const bool is_run = !train.load.empty() && is_folder(train.load);
  return is_run && loads_embeddings(train) && experiment.data.tokenizer.empty() ? train.load : "";
}

ExistingVocabulary existing_vocabulary(const LoadedConfig& config) {
  const Experiment& experiment = config.experiment;
  ExistingVocabulary existing;
  if (experiment.data.kind->is_task() || !experiment.data.kind->uses("vocabulary")) return existing;
  if (!config.run_vocabulary.empty() && exists(config.run_vocabulary)) {
    existing = read_codecs(config.run_vocabulary);
    existing.new_tokens = NewTokens::unknown;  // as in its training
    if (!existing.target) return existing;
    return existing.target->level() == experiment.data.level ? existing : ExistingVocabulary();
  }
  const std::string origin = origin_of(experiment);
  if (origin.empty()) return existing;
  existing = read_codecs(is_folder(origin) ? RunFolder::open(origin).vocabulary() : origin);
  check_input(existing.target || experiment.data.vocabulary.empty(),
              "`data.vocabulary`: {} has no tokens, because its data are vectors", origin);
  existing.origin = origin;
  existing.new_tokens = experiment.train.new_tokens;
  return existing;
}

}  // namespace

Corpus load_data(const LoadedConfig& config) {
  const Experiment& e = config.experiment;
  return with_origins(config.origins, [&] {
    const ExistingVocabulary existing = existing_vocabulary(config);
    DataOptions data = e.data;
    if (existing.target) data.tokenizer.clear();  // a trained run has it in its vocabulary
    for (const auto& [key, path] : data_files(data))
      check_input(exists(*path),
                  "`data.{0}`: there is no such file: {1}; if it has moved, name it with --set "
                  "data.{0}=FILE",
                  key, *path);
    Corpus corpus = in_section("data", [&] {
      const bool has_command = !e.data.command.empty();
      const bool is_classifier = e.model.kind == ModelKind::classifier;
      const int64_t queries =
          is_classifier && e.model.pool == Pool::queries ? e.model.pool_queries : 0;
      const ExampleProgram program = has_command ? example_program(config) : ExampleProgram();
      return load_corpus(e.data, e.model.kind, static_cast<uint64_t>(e.seed), existing,
                         is_classifier && has_many_targets(e.model.pool),
                         has_command ? &program : nullptr, queries);
    });
    for (std::string& note : corpus.notes)
      note = replace_names(with_keys(note, "data"), [](const std::string& key) { return key; });
    return corpus;
  });
}

}  // namespace heed
