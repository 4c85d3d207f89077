// heed evaluate: scores a checkpoint on a split of its run's data, or a language model on lines.
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "apps/commands/command.h"
#include "apps/cost/summary.h"
#include "apps/inference/answers.h"
#include "apps/inference/attention_map.h"
#include "apps/inference/example_answers.h"
#include "apps/inference/kinds.h"
#include "apps/inference/scores.h"
#include "apps/support/files.h"
#include "apps/support/log.h"
#include "apps/support/numbers.h"
#include "apps/support/table.h"
#include "apps/support/terminal.h"
#include "apps/support/together.h"
#include "apps/training/saved_run.h"
#include "core/system_memory.h"
#include "core/text.h"

namespace heed {
namespace {

struct EvaluateArguments final : CommandArguments {
  std::string path, split, checkpoint, predictions, by, positions, unknown = "error";
  std::optional<std::string> input;
  std::optional<int64_t> stride;
  int64_t beam = 1;
  std::vector<std::string> set;
  bool json = false;

  std::vector<Option> options() override {
    constexpr Range widths{1, 1000};
    return {
        {"RUN", "", &path, "Folder of the run"},
        {"--split", "NAME", &split, "Split to score: val, test, … (default: test, else val)"},
        checkpoint_option(checkpoint),
        set_option(set),
        {"--beam", "COUNT", &beam,
         "Encoder-decoders: width of the beam search for exact match, BLEU and chrF (default: "
         "1, greedy)",
         widths},
        {"--predictions", "FILE", &predictions,
         "Also write every example as JSON, one line each: index, source, mean loss, and if it has "
         "an "
         "expected output also this, the prediction and whether it is correct; and the probability "
         "and the most likely token at each target"},
        by_option(by, "Also score each kind of examples"),
        positions_option(positions),
        {"--input", "FILE", &input,
         "Instead of a split, score each line of this file, or of standard input for -: a text, "
         "an input and its output with a tab between, a text and its label, or an example"},
        {"--stride", "COUNT", &stride,
         "With --input: tokens between the windows in which a language model reads a line longer "
         "than its context. 1 gives each token the whole context, and takes longest (default: half "
         "of the context)",
         at_least(1)},
        unknown_option(unknown),
        {"--json", "", &json,
         "Print JSON, also with errors by length and the confusion of classes; with --input "
         "one object for each line, with the loss of each token"}};
  }
  int run() const override;
};

// How a language model reads lines that are longer than its context.
Windows windows_for(const EvaluateArguments& a, const Experiment& experiment) {
  check_input(!a.stride || experiment.model.kind == ModelKind::language_model,
              "--stride is for language models; this model reads a whole line");
  const int64_t context = context_length(experiment);
  check_input(!a.stride || context > 0, "--stride: this model has no limit, it reads a whole line");
  check_input(a.stride.value_or(1) <= std::max<int64_t>(1, context),
              "--stride: expected 1 to {}, the context of the model, found {}", context,
              a.stride.value_or(1));
  if (experiment.model.kind != ModelKind::language_model || context == 0) return {};
  return {context, a.stride.value_or((context + 1) / 2)};
}

// Logs how lines longer than the context are scored, if there is one. Returns whether there is.
bool note_windows(std::span<const Sequence> lines, const Windows& windows) {
  const auto& [context, stride] = windows;
  const int64_t most = context + 1;  // the last token is only a target
  if (context == 0 ||
      std::ranges::none_of(lines, [&](const Sequence& line) { return std::ssize(line) > most; }))
    return false;
  logging::info(
      "lines of more than {} tokens are scored in windows of {}: each later token has at least {} "
      "before it (--stride {})",
      context, context, counted(context + 1 - stride, "token"), stride);
  return true;
}

int evaluate_lines(const EvaluateArguments& a, const SavedRun& saved) {
  const Experiment& experiment = saved.config.experiment;
  check_input(a.split.empty() && a.predictions.empty() && a.by.empty() && a.positions.empty() &&
                  a.beam == 1,
              "--input scores lines instead of a split: leave out --split, --predictions, --by, "
              "--positions and --beam");
  check_input(
      experiment.model.kind != ModelKind::language_model || !experiment.data.kind->is_task(),
      "--input is for language models of texts or lines, and for models of pairs, labels or "
      "examples; score this run on its data");
  const Windows windows = windows_for(a, experiment);
  const TrainedModel run(saved, a.checkpoint, TrainedModel::Needs::vocabulary);
  const TrainedModel::Here here(run);
  check_input(!answers_examples(run.corpus),
              "--input: this model reads vectors or predicts numbers; score it on its data");
  UnknownTokens unknown(a.unknown);
  AnswerOptions options;
  options.json = a.json;
  options.skipped = unknown.skipped();
  options.check = [&, noted = false](std::span<const Sequence> lines) mutable {
    noted = noted || note_windows(lines, windows);
    check_lines_memory(experiment, run.corpus, lines, available_memory(), windows.stride);
  };
  const Answerer answerer = !has_exact_match(experiment)
                                ? loss_answerer(*run.model, *run.corpus.target, windows, options)
                                : row_answerer(*run.model, experiment, run.corpus, options);
  return unknown.exit_code(print_answers(answerer, *a.input, experiment.data.level));
}

// `sources`: of the examples. Without an expected output there is no prediction either.
void write_predictions(const std::string& path, const SplitScores& details, const Corpus& corpus,
                       const std::vector<std::string>& sources) {
  AtomicFile file(path);
  auto target = details.targets.begin();
  const auto token = [&](int32_t id) {
    return corpus.framing == ModelKind::classifier ? corpus.labels.at(static_cast<size_t>(id))
                                                   : token_label(*corpus.target, id);
  };
  for (size_t i = 0; i < sources.size(); ++i) {
    Json row = Json::object().set("index", static_cast<int64_t>(i)).set("source", sources[i]);
    const Outcome& outcome = details.outcomes.at(i);
    const Prediction found = details.predictions.empty() ? Prediction() : details.predictions.at(i);
    if (!found.numbers.empty())
      row.set("predicted", numbers_json(found.numbers))
          .set("expected", numbers_json(found.expected_numbers));
    else if (!details.predictions.empty())
      row.set("predicted", found.predicted)
          .set("expected", found.expected)
          .set("correct", outcome.correct);
    row.set("loss", float32_digits(outcome.mean_loss()));
    if (!corpus.format.numbers) {
      const auto first = std::exchange(target, target + outcome.targets);
      row.set("targets", Json::list(std::span(first, target), [&](const TargetOutcome& each) {
                return Json::object()
                    .set("position", each.position)
                    .set("expected", token(each.expected))
                    .set("probability", float32_digits(std::exp(-each.loss)))
                    .set("predicted", token(each.predicted))
                    .set("predicted_probability", float32_digits(std::exp(-each.predicted_loss)));
              }));
    }
    file.write(row.text() + "\n");
  }
  file.commit();
}

std::string kinds_table(const std::vector<KindScores>& kinds, const Score* fraction) {
  Table table{{{"kind", "examples"}}, {}};
  if (fraction) table.rows[0].emplace_back(fraction->title);
  table.rows[0].emplace_back(scores::loss.title);
  for (const KindScores& each : kinds) {
    Table::Row row = {each.kind, std::to_string(each.examples)};
    if (fraction) row.push_back(score_text(*fraction, each.fraction(*fraction)));
    row.push_back(four_digits(each.mean_loss()));
    table.rows.push_back(std::move(row));
  }
  return table.text();
}

Json kinds_json(const std::vector<KindScores>& kinds, const Score* fraction) {
  return Json::list(kinds, [&](const KindScores& each) {
    Json row = Json::object().set("kind", each.kind).set("examples", each.examples);
    if (fraction) row.set(fraction->name, each.fraction(*fraction));
    return row.set("loss", each.mean_loss());
  });
}

Json lengths_json(const std::map<int64_t, ErrorCount>& lengths) {
  return Json::list(lengths, [](const auto& each) {
    return Json::object()
        .set("length", each.first)
        .set("examples", each.second.examples)
        .set("errors", each.second.errors);
  });
}

int EvaluateArguments::run() const {
  const SavedRun saved = SavedRun::open(path, set);
  const Experiment& experiment = saved.config.experiment;
  apply_settings(experiment);
  if (input) return evaluate_lines(*this, saved);
  check_input(unknown == "error", "--unknown is for --input");
  check_input(!stride, "--stride is for --input");
  check_input(beam == 1 || experiment.model.kind == ModelKind::seq2seq,
              "--beam is for encoder-decoders");
  std::optional<PositionRange> range;
  if (!positions.empty()) range = PositionRange::parse(positions);
  check_input(!range || beam == 1, "--positions and --beam: choose one");
  std::optional<Kinds> kinds;
  if (!by.empty()) kinds.emplace(by);
  const std::string predictions_path =
      !predictions.empty() && rank() == 0 ? output_path(predictions, {".jsonl", ".ndjson"}) : "";
  const TrainedModel run(saved, checkpoint, TrainedModel::Needs::data);
  const TrainedModel::Here here(run);
  const Corpus& corpus = run.corpus;
  const bool numbers = corpus.format.numbers, exact = has_exact_match(experiment) && !numbers;
  const std::string chosen = split_or_default(corpus, split);
  check_evaluation_memory(experiment, corpus, chosen, available_memory());
  const ScoreRequest request{.outputs = !range,
                             .details = true,
                             .predictions = (exact || numbers) && !predictions.empty(),
                             .positions = range,
                             .beam = beam};
  const SplitScores details = score_split(*run.model, corpus, experiment, chosen, request);
  if (rank() > 0) return exit_done;
  if (!predictions.empty())
    write_predictions(predictions_path, details, corpus,
                      source_texts(corpus, split_of(corpus, chosen)));
  const Score* const fraction = Kinds::fraction(by, experiment, corpus);
  const std::vector<KindScores> by_kind =
      kinds ? kinds->scores(details, corpus, split_of(corpus, chosen))
            : scores_of_groups(details.outcomes, corpus);
  if (!json) {
    print_escaped(fmt::format("{}, step {}\n\n{}\n", escaped(run.path()), run.checkpoint.step(),
                              scores_table({{chosen, details.scores}})));
    if (!by_kind.empty()) print("\n" + kinds_table(by_kind, fraction));
    return exit_done;
  }
  Json result =
      Json::object().set("run", run.path()).set("step", run.checkpoint.step()).set("split", chosen);
  if (range) result.set("positions", range->text());
  details.scores.visit([&](const char* name, auto value) { result.set(name, value); });
  if (exact)
    result.set("errors_by_length",
               lengths_json(errors_by_length(details.outcomes,
                                             source_lengths(corpus, split_of(corpus, chosen)))));
  if (kinds) result.set("by", kinds_json(by_kind, fraction));
  if (corpus.framing == ModelKind::classifier && !numbers && !corpus.format.at_positions)
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
        "  heed evaluate runs/addition --by '([+*])'\n"
        "  heed evaluate runs/shakespeare --input lines.txt",
    .arguments = make_arguments<EvaluateArguments>,
    .shared_by_ranks = true,
};

}  // namespace heed
