// heed evaluate: scores a checkpoint on a split of its run's data, or a language model on lines.
#include <fmt/format.h>

#include "apps/commands/command.h"
#include "apps/cost/summary.h"
#include "apps/inference/line_output.h"
#include "apps/inference/scores.h"
#include "apps/support/files.h"
#include "apps/support/output.h"
#include "apps/training/agreement.h"
#include "apps/training/saved_run.h"
#include "core/ranks.h"
#include "core/system_memory.h"
#include "core/text.h"

namespace heed {
namespace {

struct EvaluateArguments final : CommandArguments {
  std::string path, split, checkpoint, predictions, unknown = "error";
  std::optional<std::string> input;
  int64_t beam = 1;
  std::vector<std::string> set;
  bool json = false;

  std::vector<Option> options() override {
    constexpr Range widths{1, 1000};
    return {{"RUN", "", &path, "Folder of the run"},
            {"--split", "NAME", &split, "Split to score: val, test, … (default: test, else val)"},
            checkpoint_option(checkpoint),
            set_option(set),
            {"--beam", "COUNT", &beam,
             "Encoder-decoders: width of the beam search for exact match, BLEU and chrF (default: "
             "1, greedy)",
             widths},
            {"--predictions", "FILE", &predictions,
             "Also write source, prediction and expected output of every example as JSON, one line "
             "each"},
            {"--input", "FILE", &input,
             "Language models: instead of a split, score each line of this file, or of standard "
             "input for -"},
            unknown_option(unknown),
            {"--json", "", &json,
             "Print JSON, also with errors by length and the confusion of classes; with --input "
             "one object for each line, with the loss of each token"}};
  }
  int run() const override;
};

int evaluate_lines(const EvaluateArguments& a, const SavedRun& run, const Checkpoint& loaded) {
  const Experiment& experiment = run.config.experiment;
  check_input(
      a.split.empty() && a.predictions.empty() && a.beam == 1,
      "--input scores lines instead of a split: leave out --split, --predictions and --beam");
  check_input(
      experiment.model.kind == ModelKind::language_model && !experiment.data.kind->is_task(),
      "--input is for language models of texts or lines; score this run on its data");
  const SavedVocabulary saved = run.vocabulary();
  check_agreement(experiment, {.checkpoint = &loaded});
  const std::unique_ptr<Model> model = run.model(saved.corpus, loaded);
  UnknownTokens unknown(a.unknown);
  const LineOutput output{
      *a.input, unknown.skipped(), true, a.json, 0, [&](std::span<const Sequence> lines) {
        check_lines_memory(experiment, saved.corpus, lines, available_memory());
      }};
  return unknown.exit_code(print_losses(dynamic_cast<const LanguageModel&>(*model),
                                        *saved.corpus.target, window_of(experiment), output));
}

void write_predictions(const std::string& path, const std::vector<Prediction>& predictions) {
  AtomicFile file(path);
  for (const Prediction& each : predictions)
    file.write(Json::object()
                   .set("source", each.source)
                   .set("predicted", each.predicted)
                   .set("expected", each.expected)
                   .text() +
               "\n");
  file.commit();
}

int EvaluateArguments::run() const {
  const SavedRun run = SavedRun::open(path, set);
  const Experiment& experiment = run.config.experiment;
  apply_settings(experiment);
  const Checkpoint loaded = run.checkpoint(checkpoint);
  if (input) return evaluate_lines(*this, run, loaded);
  check_input(unknown == "error", "--unknown is for --input");
  check_input(beam == 1 || experiment.model.kind == ModelKind::seq2seq,
              "--beam is for encoder-decoders");
  ScoreDetails details;
  details.predict = !predictions.empty();
  check_input(!details.predict || has_exact_match(experiment),
              "--predictions: the examples of this run have no expected output");
  const std::string predictions_path =
      details.predict && rank() == 0 ? output_path(predictions) : "";
  const Corpus corpus = run.data(loaded);
  check_agreement(experiment, {corpus.fingerprint, &loaded});
  const std::string chosen = split_or_default(corpus, split);
  const std::unique_ptr<Model> model = run.model(corpus, loaded);
  check_evaluation_memory(experiment, corpus, chosen, available_memory());
  const Json scores = detailed_scores(*model, corpus, experiment, chosen, beam, details);
  if (rank() > 0) return exit_done;
  if (details.predict) write_predictions(predictions_path, details.predictions);
  if (!json) {
    print_escaped(fmt::format("{}, step {}\n\n{}\n", escaped(run.folder.path()), loaded.step(),
                              scores_table({{chosen, scores}})));
    return exit_done;
  }
  Json result =
      Json::object().set("run", run.folder.path()).set("step", loaded.step()).set("split", chosen);
  for (const auto& [name, score] : scores.members()) result.set(name, score);
  if (has_exact_match(experiment))
    result.set("errors_by_length", errors_by_length(details.outcomes));
  if (corpus.framing == Framing::classifier)
    result.set("confusion", confusion(corpus.labels, details.outcomes));
  print(fmt::format("{}\n", result.text(2)));
  return exit_done;
}

}  // namespace

const Command commands::evaluate = {
    .name = "evaluate",
    .summary = "Score a trained model on a split of its data, or on lines",
    .details =
        "Examples:\n"
        "  heed evaluate runs/deep\n"
        "  heed evaluate runs/deep --split val --checkpoint latest --json\n"
        "  heed evaluate runs/translate --beam 4 --predictions outputs.jsonl\n"
        "  heed evaluate runs/shakespeare --input lines.txt",
    .arguments = make_arguments<EvaluateArguments>,
    .shared_by_ranks = true,
};

}  // namespace heed
