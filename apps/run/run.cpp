#include "apps/run/run.h"

#include <fmt/format.h>

#include "apps/config/named_run.h"
#include "apps/inference/answers.h"
#include "apps/inference/scores.h"
#include "apps/training/saved_run.h"

namespace heed {

struct Run::Loaded : TrainedModel {
  using TrainedModel::TrainedModel;

  Answerer answerer(const GenerationOptions& options) const {
    return generation_answerer(*model, experiment(), corpus, options, {.with_prompt = false});
  }
  void check_reads(ModelKind kind, const char* what) const {
    check_input((experiment().model.kind == ModelKind::language_model) ==
                        (kind == ModelKind::language_model) &&
                    corpus.format.features == 0 && !corpus.format.numbers &&
                    !corpus.format.at_positions,
                "{}: {}", path(), what);
  }
};

Run::Run(const std::string& folder, const std::string& checkpoint)
    : loaded_(std::make_unique<Loaded>(SavedRun::open(named_run(folder)), checkpoint,
                                       TrainedModel::Needs::vocabulary)) {}

Run::Run(Run&&) noexcept = default;
Run::~Run() = default;

int64_t Run::step() const { return loaded_->checkpoint.step(); }
const Model& Run::model() const { return *loaded_->model; }
const TrainedModel& Run::loaded() const { return *loaded_; }

std::vector<std::string> Run::generate(const std::string& prompt, const GenerateOptions& o) const {
  loaded_->check_reads(ModelKind::language_model,
                       "expected a language model; use predict(), or model() in C++");
  const TrainedModel::Here here(*loaded_);
  GenerationOptions options = default_generation(loaded_->experiment(), loaded_->corpus);
  options.count = o.count;
  if (o.length > 0) options.max_length = o.length;
  options.sampling.temperature = o.temperature.value_or(options.sampling.temperature);
  options.sampling.top_k = o.top_k;
  options.sampling.top_p = o.top_p;
  options.seed = o.seed.value_or(options.seed);
  check_input(!prompt.empty() || !has_exact_match(loaded_->experiment()),
              "{}: expected the problem as the prompt", loaded_->run.folder.path());
  const Answerer answerer = loaded_->answerer(options);
  const InputLine line{0, prompt, tokens_of(answerer, prompt)};
  return answerer.answers({&line, 1}).at(0);
}

std::vector<std::string> Run::predict(std::span<const std::string> lines,
                                      const GenerateOptions& o) const {
  loaded_->check_reads(
      ModelKind::seq2seq,
      "expected a model that reads lines of text; use generate(), or model() in C++");
  const TrainedModel::Here here(*loaded_);
  GenerationOptions options = default_generation(loaded_->experiment(), loaded_->corpus);
  options.beam = o.beam;
  options.length_penalty = o.length_penalty;
  if (o.length > 0) options.max_length = o.length;
  const Answerer answerer = loaded_->answerer(options);
  std::vector<InputLine> readable;
  for (size_t i = 0; i < lines.size(); ++i) {
    InputLine line{static_cast<int64_t>(i + 1), lines[i], {}};
    line.ids = in_context(fmt::format("line {}", line.number),
                          [&] { return tokens_of(answerer, line.text); });
    if (!line.ids.empty()) readable.push_back(std::move(line));
  }
  const auto answers = answerer.answers(readable);
  std::vector<std::string> texts(lines.size());
  for (size_t i = 0; i < readable.size(); ++i)
    texts[static_cast<size_t>(readable[i].number) - 1] = answers[i].at(0);
  return texts;
}

std::map<std::string, double> Run::evaluate(const std::string& split) const {
  const TrainedModel::Here here(*loaded_);
  const Corpus data = loaded_->run.data(loaded_->checkpoint);
  std::map<std::string, double> scores;
  score_split(model(), data, loaded_->experiment(), split_or_default(data, split))
      .scores.visit(
          [&](const char* name, auto value) { scores[name] = static_cast<double>(value); });
  return scores;
}

}  // namespace heed
