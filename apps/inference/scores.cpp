#include "apps/inference/scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unistd.h>

#include "apps/inference/bleu.h"
#include "apps/inference/evaluation.h"
#include "apps/inference/predictions.h"
#include "apps/support/colour.h"
#include "apps/support/numbers.h"
#include "core/check.h"
#include "core/joined.h"
#include "core/text.h"

namespace heed {

const Dataset& split_of(const Corpus& corpus, const std::string& split) {
  const auto found = corpus.splits.find(split);
  if (found != corpus.splits.end()) return *found->second;
  std::vector<std::string> names;
  for (const auto& [name, dataset] : corpus.splits) names.push_back(name);
  throw InputError(
      fmt::format("no split {}; the splits are {}", in_quotes(split, '\''), joined(names)));
}

std::string split_or_default(const Corpus& corpus, const std::string& split) {
  if (!split.empty()) return split;
  return corpus.splits.contains("test") ? "test" : "val";
}

namespace {

// Replaces <unk> in a reference by a character that no model generates, so that it never matches.
std::string without_unknown(std::string text) {
  constexpr std::string_view unknown = unknown_token, replacement = "\uE000";  // private use
  for (size_t at = 0; (at = text.find(unknown, at)) != text.npos; at += replacement.size())
    text.replace(at, unknown.size(), replacement);
  return text;
}

double bleu_of(const Model& model, const Corpus& corpus, const Dataset& dataset,
               int64_t positions) {
  std::vector<std::string> hypotheses, references;
  for (const Prediction& p : predictions(model, corpus, dataset, dataset.size(), positions)) {
    hypotheses.push_back(p.predicted);
    references.push_back(without_unknown(p.expected));
  }
  return corpus_bleu(hypotheses, references);
}

struct Column {
  const char *name, *title;
  double factor;
  int decimals;  // -1: four significant digits
  const char* unit;
};
constexpr Column score_columns[] = {{"loss", "loss", 1, -1, ""},
                                    {"perplexity", "perplexity", 1, 3, ""},
                                    {"token_accuracy", "token accuracy", 100, 2, " %"},
                                    {"exact_match", "exact match", 100, 2, " %"},
                                    {"bleu", "BLEU", 1, 2, ""}};

}  // namespace

Json quick_scores(const Model& model, const Corpus& corpus, const Experiment& experiment,
                  const std::string& split) {
  const TrainOptions& train = experiment.train;
  const int64_t batch_size =
      train.evaluate_batch_size > 0 ? train.evaluate_batch_size : train.batch_size;
  const Scores scores = evaluate(model, split_of(corpus, split), corpus.framing, batch_size);
  return Json::object()
      .set("loss", scores.loss)
      .set("perplexity", scores.perplexity)
      .set("token_accuracy", scores.token_accuracy)
      .set("exact_match", scores.exact_match)
      .set("examples", scores.examples)
      .set("targets", scores.targets);
}

Json split_scores(const Model& model, const Corpus& corpus, const Experiment& experiment,
                  const std::string& split) {
  Json scores = quick_scores(model, corpus, experiment, split);
  if (experiment.data.kind == &data_kinds::pairs)
    scores.set("bleu", bleu_of(model, corpus, split_of(corpus, split),
                               learned_positions(experiment.model)));
  for (const auto& [name, score] : scores.members())
    check(std::isfinite(score.number()), "the {} of split {} is {}: the model has diverged", name,
          split, score.number());
  return scores;
}

std::vector<std::string> measured_splits(const Corpus& corpus) {
  std::vector<std::string> names;
  for (const char* name : {"val", "test", "test_longer"})
    if (corpus.splits.contains(name)) names.push_back(name);
  return names;
}

std::string scores_table(const std::vector<std::pair<std::string, Json>>& splits,
                         bool with_exact_match) {
  const auto has = [&](const Column& column) {
    if (!with_exact_match && std::string_view(column.name) == "exact_match") return false;
    return std::any_of(splits.begin(), splits.end(),
                       [&](const auto& split) { return split.second.find(column.name); });
  };
  const auto cell = [](const Column& column, const Json* score) {
    if (!score || !score->is_number()) return std::string();
    const double number = score->number() * column.factor;
    return (column.decimals < 0 ? four_digits(number)
                                : fmt::format("{:.{}f}", number, column.decimals)) +
           column.unit;
  };
  std::string heading = fmt::format("{:<12}", "split");
  for (const Column& column : score_columns)
    if (has(column)) heading += fmt::format("  {:>14}", column.title);
  std::string text = styled(Style::heading, heading, STDOUT_FILENO);
  for (const auto& [name, scores] : splits) {
    text += fmt::format("\n{:<12}", escaped(name));
    for (const Column& column : score_columns)
      if (has(column)) text += fmt::format("  {:>14}", cell(column, scores.find(column.name)));
  }
  return text;
}

}  // namespace heed
