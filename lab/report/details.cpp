#include "lab/report/details.h"

#include <algorithm>
#include <map>
#include <set>

#include "apps/cost/summary.h"
#include "apps/inference/attention_map.h"
#include "apps/inference/evaluation.h"
#include "apps/inference/scores.h"
#include "lab/report/attention_atlas.h"
#include "lab/report/charts.h"

namespace heed {

namespace {

constexpr int64_t shown_samples = 12, profiled_steps = 4;
constexpr size_t max_confusions = 4000;

Confusion confusion_of(const Corpus& corpus, const TargetCounts& counts) {
  std::vector<std::pair<std::pair<int32_t, int32_t>, int64_t>> sorted(counts.begin(), counts.end());
  std::ranges::stable_sort(sorted, [](const auto& a, const auto& b) {
    const bool a_wrong = a.first.first != a.first.second, b_wrong = b.first.first != b.first.second;
    return a_wrong != b_wrong ? a_wrong : a.second > b.second;
  });
  sorted.resize(std::min(sorted.size(), max_confusions));
  std::set<int32_t> ids;
  for (const auto& [pair, count] : sorted) ids.insert({pair.first, pair.second});
  Confusion confusion;
  std::map<int32_t, size_t> index;  // of the label of an id
  for (const int32_t id : ids) {
    index[id] = confusion.labels.size();
    confusion.labels.push_back(corpus.framing == Framing::classifier
                                   ? corpus.labels.at(static_cast<size_t>(id))
                                   : token_label(*corpus.target, id));
  }
  for (const auto& [pair, count] : sorted)
    confusion.counts.push_back({index[pair.first], index[pair.second], count});
  return confusion;
}

Json lengths_of(const std::vector<Outcome>& outcomes) {
  Curve curve;
  const Json rows = errors_by_length(outcomes);
  for (const Json& row : rows.elements()) {
    curve.steps.push_back(row.at("length").number());
    curve.values.push_back(1 - row.at("errors").number() / row.at("examples").number());
  }
  return chart_json({"Exact match by length", "exact_match", {{"exact match", 0, curve}}})
      .set("name", "lengths")
      .set("x", "length");
}

void add_errors(const Model& model, const Corpus& corpus, const Experiment& experiment,
                const Dataset& dataset, Details& details) {
  std::vector<Outcome> outcomes;
  TargetCounts counts;
  const TrainOptions& train = experiment.train;
  evaluate(model, dataset, corpus.framing, train.evaluation_batch(), &outcomes, &counts);
  details.confusion = confusion_of(corpus, counts);
  const auto [least, most] = std::ranges::minmax_element(outcomes, {}, &Outcome::length);
  if (has_exact_match(experiment) && most != outcomes.end() && least->length < most->length)
    details.lengths = lengths_of(outcomes);
}

}  // namespace

Details details_of(const SavedRun& run, const std::string& split, bool profile) {
  const Experiment& experiment = run.config.experiment;
  Details details;
  std::vector<std::string>& notes = details.notes;
  std::string wrong_split;  // why the data lack it
  note_failure(notes, "Attention, samples and errors are left out", [&] {
    apply_settings(experiment);
    const Checkpoint checkpoint = run.checkpoint("");
    const Corpus corpus = run.data(checkpoint);
    details.data = corpus.notes;
    try {
      if (!split.empty()) split_of(corpus, split);
    } catch (const InputError& error) {
      wrong_split = error.what();
      throw;
    }
    note_failure(notes, "The model is left out",
                 [&] { details.model = table(summarize(experiment, corpus)); });
    const std::unique_ptr<Model> model = run.model(corpus, checkpoint);
    const ScopeGuard here;
    here->step = static_cast<uint32_t>(checkpoint.step());
    if (corpus.splits.contains("val") || corpus.splits.contains("test")) {
      details.step = checkpoint.step();
      details.split = split_or_default(corpus, split);
      const Dataset& dataset = split_of(corpus, details.split);
      note_failure(notes, "Samples are left out", [&] {
        details.samples = predictions(*model, corpus, dataset, shown_samples,
                                      learned_positions(experiment.model));
      });
      note_failure(notes, "Errors are left out",
                   [&] { add_errors(*model, corpus, experiment, dataset, details); });
      note_failure(notes, "Attention is left out",
                   [&] { details.attention = attention_atlas(run, corpus, details.split); });
    }
    if (profile)
      note_failure(notes, "Where the time goes is left out", [&] {
        check_memory(summarize(experiment, corpus));
        details.profile = profile_training(experiment, corpus, profiled_steps);
      });
  });
  check_input(wrong_split.empty(), "--split: {}", wrong_split);
  return details;
}

}  // namespace heed
