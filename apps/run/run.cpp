#include "apps/run/run.h"

#include <fmt/format.h>

#include "apps/config/named_run.h"
#include "apps/inference/predictions.h"
#include "apps/inference/scores.h"
#include "apps/training/saved_run.h"

namespace heed {

struct Run::Loaded {
  SavedRun run;
  SavedVocabulary vocabulary;
  Checkpoint checkpoint;
  std::unique_ptr<Model> model = {};

  const Experiment& experiment() const { return run.config.experiment; }
  const Corpus& corpus() const { return vocabulary.corpus; }

  // Sets what the commands of heed set for a computation, until the guard is destroyed.
  void apply(const ScopeGuard& here) const {
    here->gradients = here->training = false;
    here->precision = experiment().precision;
    here->step = static_cast<uint32_t>(checkpoint.step());
  }
  void check_reads(ModelKind kind, const char* what) const {
    check_input((experiment().model.kind == ModelKind::language_model) ==
                        (kind == ModelKind::language_model) &&
                    corpus().format.features == 0,
                "{}: {}", run.folder.path(), what);
  }
};

Run::Run(const std::string& folder, const std::string& checkpoint) {
  const ScopeGuard here;
  SavedRun run = SavedRun::open(named_run(folder));
  SavedVocabulary vocabulary = run.vocabulary();
  Checkpoint opened = run.checkpoint(checkpoint);
  loaded_ =
      std::make_unique<Loaded>(Loaded{std::move(run), std::move(vocabulary), std::move(opened)});
  loaded_->model = loaded_->run.model(loaded_->corpus(), loaded_->checkpoint);
}

Run::Run(Run&&) noexcept = default;
Run::~Run() = default;

int64_t Run::step() const { return loaded_->checkpoint.step(); }
const Model& Run::model() const { return *loaded_->model; }

std::vector<std::string> Run::generate(const std::string& prompt, const GenerateOptions& o) const {
  loaded_->check_reads(ModelKind::language_model,
                       "expected a language model; use predict() or model()");
  const ScopeGuard here;
  loaded_->apply(here);
  const Experiment& experiment = loaded_->experiment();
  const SavedVocabulary& saved = loaded_->vocabulary;
  const TextCodec& codec = *saved.corpus.target;
  const bool is_task = experiment.data.kind->is_task();
  ContinuationOptions options;
  options.sampling = {
      .temperature = o.temperature.value_or(is_task ? 0 : 1), .top_k = o.top_k, .top_p = o.top_p};
  options.count = o.count;
  if (saved.target_length > 0) options.max_length = saved.target_length;
  if (o.length > 0) options.max_length = o.length;
  options.window = window_of(experiment);
  options.seed = o.seed.value_or(static_cast<uint64_t>(experiment.seed));
  const Sequence ids = prompt.empty() ? default_prompt(codec) : codec.prompt(prompt);
  std::vector<std::string> texts;
  for (const Sequence& found : continuations(dynamic_cast<const LanguageModel&>(model()),
                                             codec.vocabulary(), {&ids, 1}, options))
    texts.push_back(codec.decode(found));
  return texts;
}

std::vector<std::string> Run::predict(std::span<const std::string> lines,
                                      const PredictOptions& o) const {
  loaded_->check_reads(ModelKind::seq2seq,
                       "expected a model that reads lines of text; use generate() or model()");
  const ScopeGuard here;
  loaded_->apply(here);
  const Corpus& corpus = loaded_->corpus();
  OutputOptions options;
  options.beam = o.beam;
  options.length_penalty = o.length_penalty;
  options.max_length = o.length;
  options.positions = learned_positions(loaded_->experiment().model);
  std::vector<std::string> texts(lines.size());
  std::vector<Sequence> sources;
  std::vector<std::string*> outputs;  // of each source
  for (size_t i = 0; i < lines.size(); ++i) try {
      Sequence ids = corpus.source->encode(lines[i]);
      check_input(options.positions == 0 || std::ssize(ids) <= options.positions,
                  "expected at most {} tokens, the positions of the model, found {}",
                  options.positions, ids.size());
      if (ids.empty()) continue;
      sources.push_back(std::move(ids));
      outputs.push_back(&texts[i]);
    } catch (const InputError& error) {
      throw InputError(fmt::format("line {}: {}", i + 1, error.what()));
    }
  if (const auto* classifier = dynamic_cast<const Classifier*>(&model())) {
    const auto found = class_probabilities(*classifier, sources);
    for (size_t i = 0; i < found.size(); ++i)
      *outputs[i] = corpus.labels.at(static_cast<size_t>(found[i][0].label));
  } else {
    const auto& translator = dynamic_cast<const Seq2Seq&>(model());
    const auto found = n_best_outputs(translator, corpus.target->vocabulary(), sources, options);
    for (size_t i = 0; i < found.size(); ++i)
      *outputs[i] = corpus.target->decode(found[i][0].tokens);
  }
  return texts;
}

std::map<std::string, double> Run::evaluate(const std::string& split) const {
  const ScopeGuard here;
  loaded_->apply(here);
  const Corpus data = loaded_->run.data(loaded_->checkpoint);
  const Json measured =
      split_scores(model(), data, loaded_->experiment(), split_or_default(data, split));
  std::map<std::string, double> scores;
  for (const auto& [name, score] : measured.members()) scores[name] = score.number();
  return scores;
}

}  // namespace heed
