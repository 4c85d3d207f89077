#include "lab/report/details.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "apps/cost/summary.h"
#include "apps/inference/attention_map.h"
#include "apps/inference/evaluation.h"
#include "apps/inference/predictions.h"
#include "apps/inference/scores.h"
#include "apps/support/numbers.h"
#include "data/first_examples.h"
#include "lab/experiments/statistics.h"
#include "lab/report/attention_atlas.h"
#include "lab/report/charts.h"

namespace heed {

namespace {

constexpr int64_t shown_samples = 8, shown_wrong = 5, saved_samples = 200, profiled_steps = 4;
constexpr size_t max_confusions = 4000, max_listed_errors = 12, max_confused_labels = 40;

// Counts how often each class or token was predicted where one was expected: errors first, the most
// frequent of them at the head.
void add_errors(const Corpus& corpus, const std::vector<TargetOutcome>& targets, Details& details) {
  std::map<std::pair<int32_t, int32_t>, int64_t> counts;
  if (!corpus.format.numbers)
    for (const TargetOutcome& each : targets) ++counts[{each.expected, each.predicted}];
  std::vector<std::pair<std::pair<int32_t, int32_t>, int64_t>> sorted(counts.begin(), counts.end());
  std::ranges::stable_sort(sorted, std::greater(), [](const auto& each) {
    const auto& [pair, count] = each;
    return std::pair(pair.first != pair.second, count);
  });
  sorted.resize(std::min(sorted.size(), max_confusions));
  std::set<int32_t> ids;
  for (const auto& [pair, count] : sorted) ids.insert({pair.first, pair.second});
  std::vector<std::string> labels;
  std::map<int32_t, int64_t> index;  // of the label of an id
  for (const int32_t id : ids) {
    index[id] = std::ssize(labels);
    labels.push_back(corpus.framing == ModelKind::classifier
                         ? corpus.labels.at(static_cast<size_t>(id))
                         : token_label(*corpus.target, id));
  }
  const auto label = [&](int32_t id) { return labels[static_cast<size_t>(index[id])]; };
  Json all = Json::array();
  details.errors = Json::array();
  for (const auto& [pair, count] : sorted) {
    const auto [expected, predicted] = pair;
    all.push(Json::array({index[expected], index[predicted], count}));
    if (expected != predicted && details.errors.elements().size() < max_listed_errors)
      details.errors.push(Json::array({label(expected), label(predicted), count}));
  }
  if (labels.size() <= max_confused_labels)
    details.confusion = Json::object().set("labels", labels).set("counts", std::move(all));
}

// Exact match by length, with Wilson's interval. `longest`: of the first split.
Json lengths_of(const std::vector<Outcome>& outcomes, const std::vector<int64_t>& lengths,
                int64_t longest) {
  Json list = Json::array();
  for (const auto& [length, count] : errors_by_length(outcomes, lengths)) {
    const int64_t n = count.examples, right = n - count.errors;
    const auto [low, high] =
        wilson_interval(static_cast<double>(right) / static_cast<double>(n), n);
    list.push(Json::object()
                  .set("length", length)
                  .set("right", right)
                  .set("of", n)
                  .set("low", six_digits(low))
                  .set("high", six_digits(high)));
  }
  return Json::object().set("longest", longest).set("rows", std::move(list));
}

// Some examples of a split that the model gets wrong, then some that it gets right: those to show,
// then those to save.
Dataset some_of(const Dataset& dataset, const std::vector<Outcome>& outcomes) {
  std::vector<int64_t> wrong, right, chosen;
  for (int64_t i = 0; i < std::ssize(outcomes); ++i)
    (outcomes[static_cast<size_t>(i)].correct ? right : wrong).push_back(i);
  const auto take = [&](std::vector<int64_t>& from, int64_t most) {
    const auto end = from.begin() + std::clamp<int64_t>(most, 0, std::ssize(from));
    chosen.insert(chosen.end(), from.begin(), end);
    from.erase(from.begin(), end);
  };
  take(wrong, std::max(shown_wrong, shown_samples - std::ssize(right)));
  take(right, shown_samples - std::ssize(chosen));
  take(wrong, saved_samples - std::ssize(chosen));
  take(right, saved_samples - std::ssize(chosen));
  Dataset some = dataset;
  some.size = std::ssize(chosen);
  some.get = [get = dataset.get, chosen](int64_t i, Example& example) {
    get(chosen[static_cast<size_t>(i)], example);
  };
  return some;
}

// The mean index of the first wrong token; 0 if none is wrong, or there is one token only.
double mean_first_error(const std::vector<Outcome>& outcomes) {
  double sum = 0, wrong = 0;
  int64_t most = 0;
  for (const Outcome& outcome : outcomes) {
    most = std::max(most, outcome.targets);
    sum += static_cast<double>(outcome.first_error);
    wrong += outcome.first_error > 0;
  }
  return most > 1 && wrong > 0 ? sum / wrong : 0;
}

// `split`, and the other test splits beside "test".
std::vector<std::string> sampled_splits(const Corpus& corpus, const std::string& split) {
  std::vector<std::string> splits = {split};
  if (split == "test")
    for (const auto& [name, dataset] : corpus.splits)
      if (name != split && name.starts_with(split)) splits.push_back(name);
  return splits;
}

// Returns the loss at each position, as a line of this name.
ChartLine position_line(const std::string& name, const std::vector<TargetOutcome>& targets) {
  ChartLine line{name, 0, {scores::loss.name, {}, {}}};
  for (const auto& [position, scores] : scores_by_position(targets)) {
    line.curve.steps.push_back(static_cast<double>(position));
    line.curve.values.push_back(scores.mean_loss());
  }
  return line;
}

void add_outcomes(const Model& model, const Corpus& corpus, const Experiment& experiment,
                  const std::optional<PositionRange>& range, Details& details) {
  const TrainOptions& train = experiment.train;
  const bool compares = has_exact_match(experiment) && !corpus.format.numbers;
  std::vector<Outcome> all;
  std::vector<int64_t> lengths;
  int64_t longest = 0;
  Chart chart{"Loss by position", scores::loss.name, {}};
  for (const std::string& split : sampled_splits(corpus, details.split)) {
    const bool first = split == details.split;
    const Dataset& dataset = split_of(corpus, split);
    EvaluationDetails found;
    const Measured measured =
        evaluate(model, range ? at_positions(dataset, *range) : first_of(dataset, dataset.size),
                 corpus.framing, train.evaluation_batch(), &found);
    const std::vector<Outcome>& outcomes = found.outcomes;
    if (range && first) check_any_target(measured.targets, *range);
    chart.lines.push_back(position_line(split, found.targets));
    chart.lines.back().colour = std::ssize(chart.lines) - 1;
    if (first) add_errors(corpus, found.targets, details);
    Json rows = Json::array();
    note_failure(details.notes, "Samples are left out", [&] {
      for (const Prediction& each : predictions(
               model, corpus, compares ? some_of(dataset, outcomes) : dataset,
               compares ? saved_samples : shown_samples, learned_positions(experiment.model)))
        rows.push(Json::array({each.source, each.predicted, each.expected}));
    });
    const int64_t wrong = std::ranges::count(outcomes, false, &Outcome::correct);
    if (compares || first)
      details.samples.push(Json::object()
                               .set("split", split)
                               .set("wrong", compares ? Json(wrong) : Json())
                               .set("examples", std::ssize(outcomes))
                               .set("first_error", mean_first_error(outcomes))
                               .set("shown", shown_samples)
                               .set("rows", std::move(rows)));
    if (!compares) continue;
    all.insert(all.end(), outcomes.begin(), outcomes.end());
    std::ranges::copy(source_lengths(corpus, dataset), std::back_inserter(lengths));
    if (first) longest = std::ranges::max(lengths);
  }
  if (chart.lines[0].curve.steps.size() > 1) details.positions = chart_json(chart);
  if (compares && std::ranges::min(lengths) < std::ranges::max(lengths))
    details.lengths = lengths_of(all, lengths, longest);
}

}  // namespace

Details details_of(const SavedRun& run, const DetailsRequest& request) {
  const std::string& split = request.split;
  const Experiment& experiment = run.config.experiment;
  Details details;
  std::vector<std::string>& notes = details.notes;
  std::string wrong_split;  // why the data lack it
  note_failure(notes, "Attention, samples and errors are left out", [&] {
    apply_settings(experiment);
    const Checkpoint checkpoint = run.checkpoint("");
    const Corpus corpus = run.data(checkpoint);
    details.data = corpus.notes;
    details.choices = corpus.framing == ModelKind::classifier ? std::ssize(corpus.labels)
                      : corpus.target                         ? corpus.target->vocabulary().size()
                                                              : 0;
    if (details.choices > 1) details.guess = std::log(static_cast<double>(details.choices));
    try {
      if (!split.empty()) split_of(corpus, split);
    } catch (const InputError& error) {
      wrong_split = error.what();
      throw;
    }
    note_failure(notes, "The model is left out",
                 [&] { details.model = table(summarize(experiment, corpus)); });
    const std::unique_ptr<Model> model = run.model(corpus, checkpoint.model());
    const ScopeGuard here;
    here->step = static_cast<uint32_t>(checkpoint.step());
    if (corpus.splits.contains("val") || corpus.splits.contains("test")) {
      details.step = checkpoint.step();
      details.split = split_or_default(corpus, split);
      note_failure(notes, "Samples and errors are left out",
                   [&] { add_outcomes(*model, corpus, experiment, request.positions, details); });
      note_failure(notes, "Attention is left out",
                   [&] { details.attention = attention_atlas(run, corpus, details.split); });
    }
    if (request.profile)
      note_failure(notes, "Where the time goes is left out", [&] {
        check_memory(summarize(experiment, corpus));
        details.profile = profile_training(experiment, corpus, profiled_steps);
      });
  });
  check_input(wrong_split.empty(), "--split: {}", wrong_split);
  return details;
}

}  // namespace heed
