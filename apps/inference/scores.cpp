#include "apps/inference/scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <unistd.h>

#include "apps/inference/predictions.h"
#include "apps/support/names.h"
#include "apps/support/numbers.h"
#include "apps/support/table.h"
#include "apps/support/terminal.h"
#include "apps/support/text_scores.h"
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

bool has_output_scores(const Experiment& experiment) {
  return std::ranges::any_of(scores::all, [&](const Score* score) {
    return score->reads_outputs && score->offered(experiment);
  });
}

// The fraction of predictions that are right, which become the outcomes.
double exact_match_of(const std::vector<Prediction>& predictions, std::vector<Outcome>& outcomes) {
  int64_t correct = 0;
  for (size_t i = 0; i < outcomes.size(); ++i) {
    outcomes[i].correct = predictions[i].predicted == predictions[i].expected;
    correct += outcomes[i].correct;
  }
  return static_cast<double>(correct) / static_cast<double>(outcomes.size());
}

// Says where BLEU means nothing, or little.
std::string note_on_bleu(const std::string& split, const Scores& scores) {
  const std::optional<int64_t>& without = scores.outputs_without_4grams;
  if (!without || 2 * *without < *scores.examples) return "";
  if (*without == *scores.examples)
    return fmt::format("\n{}: BLEU means nothing, no output has four words; see chrF2",
                       escaped(split));
  return fmt::format(
      "\n{}: BLEU means little, {} of {} outputs have fewer than four words; see chrF2",
      escaped(split), *without, *scores.examples);
}

}  // namespace

void KindScores::add(const Outcome& outcome) {
  if (outcome.targets == 0) return;
  ++examples;
  correct += outcome.correct;
  targets += outcome.targets;
  correct_targets += outcome.correct_targets;
  loss += outcome.loss;
}

static double per_count(double sum, int64_t count) {
  return sum / static_cast<double>(std::max<int64_t>(1, count));
}

double KindScores::fraction(const Score& score) const {
  return &score == &scores::exact_match ? per_count(static_cast<double>(correct), examples)
                                        : per_count(static_cast<double>(correct_targets), targets);
}
double KindScores::mean_loss() const { return per_count(loss, targets); }

std::vector<KindScores> scores_of_groups(const std::vector<Outcome>& outcomes, const Corpus& corpus,
                                         const std::optional<std::string>& name) {
  std::map<std::string, KindScores, decltype(&comes_before)> by_kind(&comes_before);
  for (const Outcome& outcome : outcomes) {
    if (outcome.group < 0) continue;
    for (const auto& [group, value] : corpus.groups.at(static_cast<size_t>(outcome.group))) {
      if (name && group != *name) continue;
      const std::string kind = name || group.empty() ? value : group + " " + value;
      by_kind.try_emplace(kind, KindScores{kind}).first->second.add(outcome);
    }
  }
  std::vector<KindScores> list;
  for (const auto& [kind, scores] : by_kind)
    if (scores.examples > 0) list.push_back(scores);
  return list;
}

std::map<int64_t, KindScores> scores_by_position(const std::vector<TargetOutcome>& targets) {
  std::map<int64_t, KindScores> by_position;
  for (const TargetOutcome& target : targets) {
    Outcome one{.correct = target.expected == target.predicted, .targets = 1, .loss = target.loss};
    one.correct_targets = one.correct;
    by_position[target.position].add(one);
  }
  for (auto& [position, scores] : by_position) scores.kind = std::to_string(position);
  return by_position;
}

std::optional<double> Scores::find(const Score& score) const {
  const auto found = values.find(&score);
  return found == values.end() ? std::nullopt : std::optional(found->second);
}

Json Scores::json() const {
  Json json = Json::object();
  visit([&](const char* name, auto value) { json.set(name, value); });
  return json;
}

Scores Scores::from(const Json& json) {
  Scores result;
  for (const auto& [name, value] : json.members()) {
    const auto* const score = std::ranges::find_if(
        scores::all, [&, &own = name](const Score* each) { return each->name == own; });
    const auto number = [&, &own = value] { return own.is_null() ? NAN : own.number(); };
    const auto count = [&, &own = value] { return own.integer(); };
    if (score != std::end(scores::all)) result.values[*score] = in_context(name, number);
    if (name.ends_with(']')) result.of_groups.emplace_back(name, in_context(name, number));
    if (name == "examples") result.examples = in_context(name, count);
    if (name == "targets") result.targets = in_context(name, count);
    if (name == "outputs_without_4grams") result.outputs_without_4grams = in_context(name, count);
  }
  return result;
}

SplitScores score_split(const Model& model, const Corpus& corpus, const Experiment& experiment,
                        const std::string& split, const ScoreRequest& request) {
  const Dataset& dataset = split_of(corpus, split);
  const bool searches = request.beam > 1, has_groups = !corpus.groups.empty(),
             has_details = request.details || searches || has_groups;
  SplitScores result;
  std::optional<Dataset> some;
  if (request.positions) some = at_positions(dataset, *request.positions);
  Measured measured =
      evaluate(model, some ? *some : dataset, corpus.framing, experiment.train.evaluation_batch(),
               has_details ? &result : nullptr);
  if (request.positions) check_any_target(measured.targets, *request.positions);
  if (const auto bytes = corpus.target_bytes.find(split);
      bytes != corpus.target_bytes.end() && !request.positions)
    measured.target_bytes = bytes->second;
  const bool scores_outputs = request.outputs && has_output_scores(experiment);
  if (scores_outputs || request.predictions || searches)
    result.predictions = predictions(model, corpus, dataset, dataset.size,
                                     learned_positions(experiment.model), request.beam);
  if (scores_outputs)
    for (const Prediction& each : result.predictions) {
      measured.outputs.push_back(each.predicted);
      measured.references.push_back(without_unknown(each.expected));
    }
  Scores& scores = result.scores;
  scores.examples = measured.examples;
  scores.targets = measured.targets;
  for (const Score* const score : scores::all)
    if (score->offered(experiment) && (scores_outputs || !score->reads_outputs) &&
        (corpus.format.numbers ? score->of_numbers : score->of_tokens))
      if (const std::optional<double> value = score->value(measured)) scores.values[score] = *value;
  if (scores.values.contains(&scores::bleu))
    scores.outputs_without_4grams = outputs_without_4grams(measured.outputs);
  if (searches)
    scores.values[&scores::exact_match] = exact_match_of(result.predictions, result.outcomes);
  for (const KindScores& each : scores_of_groups(result.outcomes, corpus)) {
    const auto add = [&](const char* score, double value) {
      scores.of_groups.emplace_back(fmt::format("{}[{}]", score, each.kind), value);
    };
    add(scores::loss.name, each.mean_loss());
    for (const Score* const score : {&scores::token_accuracy, &scores::exact_match})
      if (scores.values.contains(score)) add(score->name, each.fraction(*score));
    add("examples", static_cast<double>(each.examples));
  }
  if (request.outputs)
    scores.visit([&](const char* name, auto value) {
      const auto number = static_cast<double>(value);
      check(std::isfinite(number), "the {} of split {} is {}: the model has diverged", name, split,
            number_in_words(number));
    });
  return result;
}

Json confusion(const std::vector<std::string>& labels, const std::vector<Outcome>& outcomes) {
  std::vector<std::vector<int64_t>> counts(labels.size(), std::vector<int64_t>(labels.size()));
  for (const Outcome& outcome : outcomes)
    ++counts.at(static_cast<size_t>(outcome.expected)).at(static_cast<size_t>(outcome.predicted));
  return Json::object().set("labels", labels).set("counts", counts);
}

std::map<int64_t, ErrorCount> errors_by_length(const std::vector<Outcome>& outcomes,
                                               const std::vector<int64_t>& lengths) {
  std::map<int64_t, ErrorCount> counts;
  for (size_t i = 0; i < outcomes.size(); ++i) {
    ErrorCount& count = counts[lengths.at(i)];
    ++count.examples;
    count.errors += !outcomes[i].correct;
  }
  return counts;
}

const Score* find_score(const std::string& name) {
  const std::string last = last_component(without_group(name));
  const auto* const found =
      std::ranges::find_if(scores::all, [&](const Score* score) { return score->name == last; });
  return found == std::end(scores::all) ? nullptr : *found;
}

std::vector<std::string> measured_splits(const Corpus& corpus) {
  std::vector<std::string> names;
  for (const char* name : {"val", "test", "test_longer"})
    if (corpus.splits.contains(name)) names.push_back(name);
  return names;
}

std::string score_text(const Score& score, double value) {
  const bool percent = score.maximum == 1;
  if (percent) value *= 100;
  return (score.decimals < 0 ? four_digits(value) : fmt::format("{:.{}f}", value, score.decimals)) +
         (percent ? " %" : "");
}

std::string scores_table(const ScoresOfSplits& splits) {
  const auto has = [&](const Score* score) {
    return std::any_of(splits.begin(), splits.end(),
                       [&](const auto& split) { return split.second.values.contains(score); });
  };
  const auto cell = [](const Score* score, const std::optional<double>& value) {
    return value ? score_text(*score, *value) : "";
  };
  Table table{{{fmt::format("{:<12}", "split")}}, {}};
  for (const Score* const score : scores::all)
    if (has(score)) table.rows[0].push_back(fmt::format("{:>14}", score->title));
  for (const auto& [name, values] : splits) {
    table.rows.push_back({name});
    for (const Score* const score : scores::all)
      if (has(score)) table.rows.back().push_back(cell(score, values.find(*score)));
  }
  std::string text = table.text();
  const size_t end = text.find('\n');
  text = styled(Style::heading, text.substr(0, end), STDOUT_FILENO) +
         text.substr(end, text.size() - end - 1);
  for (const auto& [name, scores] : splits) text += note_on_bleu(name, scores);
  return text;
}

}  // namespace heed
