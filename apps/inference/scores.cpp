#include "apps/inference/scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <span>
#include <unistd.h>

#include "apps/inference/bleu.h"
#include "apps/inference/chrf.h"
#include "apps/inference/evaluation.h"
#include "apps/inference/predictions.h"
#include "apps/support/colour.h"
#include "apps/support/names.h"
#include "apps/support/numbers.h"
#include "core/check.h"
#include "core/joined.h"
#include "core/text.h"

namespace heed {

const Dataset& split_of(const Corpus& corpus, const std::string& split) {
  const auto found = corpus.splits.find(split);
  if (found != corpus.splits.end()) return found->second;
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

// BLEU counts words, so it says little about a model of characters.
bool has_bleu(const Experiment& experiment) {
  return experiment.data.level != Level::character || experiment.train.best_by == BestBy::bleu;
}

void add_text_scores(const std::vector<Prediction>& predictions, const Experiment& experiment,
                     Json& scores) {
  std::vector<std::string> hypotheses, references;
  for (const Prediction& p : predictions) {
    hypotheses.push_back(p.predicted);
    references.push_back(without_unknown(p.expected));
  }
  if (has_bleu(experiment)) scores.set("bleu", corpus_bleu(hypotheses, references));
  scores.set("chrf", corpus_chrf(hypotheses, references));
  if (has_bleu(experiment))
    scores.set("outputs_without_4grams", outputs_without_4grams(hypotheses));
}

Json token_scores(const Model& model, const Corpus& corpus, const Experiment& experiment,
                  const std::string& split, std::vector<Outcome>* outcomes) {
  const Scores scores = evaluate(model, split_of(corpus, split), corpus.framing,
                                 experiment.train.evaluation_batch(), outcomes);
  Json json = Json::object().set("loss", scores.loss).set("perplexity", scores.perplexity);
  if (const auto bytes = corpus.target_bytes.find(split); bytes != corpus.target_bytes.end())
    json.set("bits_per_byte", scores.loss * static_cast<double>(scores.targets) /
                                  static_cast<double>(bytes->second) / std::numbers::ln2);
  json.set("token_accuracy", scores.token_accuracy);
  if (has_exact_match(experiment)) json.set("exact_match", scores.exact_match);
  return json.set("examples", scores.examples).set("targets", scores.targets);
}

struct Column {
  const char *name, *title;
  double factor;
  int decimals;  // -1: four significant digits
  const char* unit;
};
constexpr Column score_columns[] = {{"loss", "loss", 1, -1, ""},
                                    {"perplexity", "perplexity", 1, 3, ""},
                                    {"bits_per_byte", "bits per byte", 1, 4, ""},
                                    {"token_accuracy", "token accuracy", 100, 2, " %"},
                                    {"exact_match", "exact match", 100, 2, " %"},
                                    {"bleu", "BLEU", 1, 2, ""},
                                    {"chrf", "chrF2", 1, 2, ""}};

// Says where BLEU means nothing, or little.
std::string note_on_bleu(const std::string& split, const Json& scores) {
  const Json* const without = scores.find("outputs_without_4grams");
  if (!without || 2 * without->integer() < scores.at("examples").integer()) return "";
  if (without->integer() == scores.at("examples").integer())
    return fmt::format("\n{}: BLEU means nothing, no output has four words; see chrF2",
                       escaped(split));
  return fmt::format(
      "\n{}: BLEU means little, {} of {} outputs have fewer than four words; see chrF2",
      escaped(split), without->integer(), scores.at("examples").integer());
}

}  // namespace

Json quick_scores(const Model& model, const Corpus& corpus, const Experiment& experiment,
                  const std::string& split) {
  return token_scores(model, corpus, experiment, split, nullptr);
}

Json split_scores(const Model& model, const Corpus& corpus, const Experiment& experiment,
                  const std::string& split) {
  ScoreDetails details;
  return detailed_scores(model, corpus, experiment, split, 1, details);
}

Json detailed_scores(const Model& model, const Corpus& corpus, const Experiment& experiment,
                     const std::string& split, int64_t beam, ScoreDetails& details) {
  Json scores = token_scores(model, corpus, experiment, split, &details.outcomes);
  const bool is_pairs = experiment.data.kind == &data_kinds::pairs;
  if (is_pairs || details.predict || beam > 1) {
    const Dataset& dataset = split_of(corpus, split);
    details.predictions = predictions(model, corpus, dataset, dataset.size,
                                      learned_positions(experiment.model), beam);
    if (is_pairs) add_text_scores(details.predictions, experiment, scores);
  }
  if (beam > 1) {
    int64_t correct = 0;
    for (size_t i = 0; i < details.outcomes.size(); ++i) {
      const Prediction& prediction = details.predictions[i];
      details.outcomes[i].correct = prediction.predicted == prediction.expected;
      correct += details.outcomes[i].correct;
    }
    scores.set("exact_match",
               static_cast<double>(correct) / static_cast<double>(details.outcomes.size()));
  }
  for (const auto& [name, score] : scores.members())
    check(std::isfinite(score.number()), "the {} of split {} is {}: the model has diverged", name,
          split, number_in_words(score.number()));
  return scores;
}

Json confusion(const std::vector<std::string>& labels, const std::vector<Outcome>& outcomes) {
  std::vector<std::vector<int64_t>> counts(labels.size(), std::vector<int64_t>(labels.size()));
  for (const Outcome& outcome : outcomes)
    ++counts.at(static_cast<size_t>(outcome.expected)).at(static_cast<size_t>(outcome.predicted));
  Json rows = Json::array();
  for (const std::vector<int64_t>& each : counts) {
    Json row = Json::array();
    for (const int64_t count : each) row.push(count);
    rows.push(std::move(row));
  }
  return Json::object().set("labels", labels).set("counts", std::move(rows));
}

Json errors_by_length(const std::vector<Outcome>& outcomes) {
  struct Count {
    int64_t examples = 0, errors = 0;
  };
  std::map<int64_t, Count> counts;
  for (const Outcome& outcome : outcomes) {
    ++counts[outcome.length].examples;
    counts[outcome.length].errors += !outcome.correct;
  }
  Json rows = Json::array();
  for (const auto& [length, count] : counts)
    rows.push(Json::object()
                  .set("length", length)
                  .set("examples", count.examples)
                  .set("errors", count.errors));
  return rows;
}

namespace {

struct ScoreKind {
  std::string_view name;
  bool lower_is_better = true;
  bool by_ratio = false;
  double maximum = std::numeric_limits<double>::infinity();
};

constexpr ScoreKind score_kinds[] = {{"loss", true, true},
                                     {"perplexity", true, true},
                                     {"bits_per_byte", true, true},
                                     {"seconds", true, true},
                                     {"tokens_per_s", false, true},
                                     {"token_accuracy", false, false, 1},
                                     {"exact_match", false, false, 1},
                                     {"bleu", false, false, 100},
                                     {"chrf", false, false, 100}};

// Of measures (train.measures), which only metrics.jsonl has.
constexpr ScoreKind measure_kinds[] = {{"accuracy", false, false, 1},
                                       {"delta", false},
                                       {"previous", false, false, 1},
                                       {"duplicate", false, false, 1},
                                       {"induction", false, false, 1},
                                       {"prefix_matching", false, false, 1},
                                       {"first", false, false, 1},
                                       {"copying", false},
                                       {"induction_loss", true, true},
                                       {"entropy"},
                                       {"distance"},
                                       {"kl"},
                                       {"accuracy_delta"},
                                       {"in_context_score"}};

ScoreKind kind_of_score(const std::string& score) {
  const std::string name = last_component(score);
  for (const std::span<const ScoreKind> kinds :
       {std::span<const ScoreKind>(score_kinds), std::span<const ScoreKind>(measure_kinds)})
    for (const ScoreKind& kind : kinds)
      if (kind.name == name) return kind;
  return {};
}

}  // namespace

bool lower_is_better(const std::string& score) { return kind_of_score(score).lower_is_better; }

bool is_compared_by_ratio(const std::string& score) { return kind_of_score(score).by_ratio; }

double maximum_of(const std::string& score) { return kind_of_score(score).maximum; }

void check_score_names(const char* option, const std::vector<std::string>& scores) {
  for (const std::string& score : scores) {
    if (score.empty()) continue;
    const bool of_run = score == "seconds" || score == "tokens_per_s",
               known = !kind_of_score(score).name.empty();
    if (known && (of_run || score.find('.') != score.npos)) continue;
    std::vector<std::string> names;
    for (const ScoreKind& kind : score_kinds)
      names.push_back(
          (kind.name.starts_with("seconds") || kind.name.starts_with("tokens_") ? "" : "SPLIT.") +
          std::string(kind.name));
    throw InputError(
        fmt::format("{} {}: there is no such score; choose one of {}, where SPLIT is "
                    "val, test or another split",
                    option, in_quotes(score), joined(names)));
  }
}

bool is_better(const std::string& score, double value, double other) {
  return lower_is_better(score) ? value < other : value > other;
}

std::vector<std::string> measured_splits(const Corpus& corpus) {
  std::vector<std::string> names;
  for (const char* name : {"val", "test", "test_longer"})
    if (corpus.splits.contains(name)) names.push_back(name);
  return names;
}

std::string scores_table(const std::vector<std::pair<std::string, Json>>& splits) {
  const auto has = [&](const Column& column) {
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
  for (const auto& [name, scores] : splits) text += note_on_bleu(name, scores);
  return text;
}

}  // namespace heed
