#include "apps/report/details.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/inference/attention_map.h"
#include "apps/inference/evaluation.h"
#include "apps/inference/predictions.h"
#include "apps/inference/scores.h"
#include "apps/measure/profile.h"
#include "apps/measure/summary.h"
#include "apps/report/attention_atlas.h"
#include "apps/report/charts.h"
#include "apps/report/text_difference.h"
#include "core/check.h"

namespace heed {

namespace {

constexpr int64_t shown_samples = 12, profiled_steps = 4;
constexpr size_t max_confusions = 4000;

Json list_of(std::initializer_list<Json> values) {
  Json list = Json::array();
  for (const Json& value : values) list.push(value);
  return list;
}

Json marked_json(const MarkedText& text) {
  Json list = Json::array();
  for (const auto& [part, marked] : text) list.push(list_of({part, marked}));
  return list;
}

Json samples_of(const Model& model, const Corpus& corpus, const Experiment& experiment,
                const Dataset& dataset) {
  Json samples = Json::array();
  for (const Prediction& each :
       predictions(model, corpus, dataset, shown_samples, learned_positions(experiment.model))) {
    const auto [predicted, expected] =
        each.expected.empty() ? std::pair<MarkedText, MarkedText>({{each.predicted, false}}, {})
                              : marked_difference(each.predicted, each.expected);
    samples.push(Json::object()
                     .set("source", each.source)
                     .set("predicted", marked_json(predicted))
                     .set("expected", marked_json(expected)));
  }
  return samples;
}

// Errors first, the most frequent of them at the head.
Json confusion_of(const Corpus& corpus, const TargetCounts& counts) {
  std::vector<std::pair<std::pair<int32_t, int32_t>, int64_t>> sorted(counts.begin(), counts.end());
  std::ranges::stable_sort(sorted, [](const auto& a, const auto& b) {
    const bool a_wrong = a.first.first != a.first.second, b_wrong = b.first.first != b.first.second;
    return a_wrong != b_wrong ? a_wrong : a.second > b.second;
  });
  sorted.resize(std::min(sorted.size(), max_confusions));
  std::vector<int32_t> ids;
  for (const auto& [pair, count] : sorted) ids.insert(ids.end(), {pair.first, pair.second});
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  const auto index = [&](int32_t id) { return std::ranges::lower_bound(ids, id) - ids.begin(); };
  Json labels = Json::array(), list = Json::array();
  for (const int32_t id : ids)
    labels.push(corpus.framing == Framing::classifier ? corpus.labels.at(static_cast<size_t>(id))
                                                      : token_label(*corpus.target, id));
  for (const auto& [pair, count] : sorted)
    list.push(list_of({int64_t{index(pair.first)}, int64_t{index(pair.second)}, count}));
  return Json::object().set("labels", std::move(labels)).set("counts", std::move(list));
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
                const Dataset& dataset, Json& details) {
  std::vector<Outcome> outcomes;
  TargetCounts counts;
  const TrainOptions& train = experiment.train;
  evaluate(model, dataset, corpus.framing,
           train.evaluate_batch_size > 0 ? train.evaluate_batch_size : train.batch_size, &outcomes,
           &counts);
  details.set("confusion", confusion_of(corpus, counts));
  const auto [least, most] = std::ranges::minmax_element(outcomes, {}, &Outcome::length);
  if (has_exact_match(experiment) && most != outcomes.end() && least->length < most->length)
    details.set("lengths", lengths_of(outcomes));
}

Json profile_json(const Experiment& experiment, const Corpus& corpus) {
  check_memory(summarize(experiment, corpus));
  const Profile p = profile_training(experiment, corpus, profiled_steps);
  Json layers = Json::array(), operations = Json::array();
  for (const LayerRow& layer : p.layers)
    layers.push(list_of({layer.name, 1e3 * layer.forward.seconds, 1e3 * layer.backward.seconds}));
  const auto add = [&](const char* pass, const std::vector<ProfileRow>& rows) {
    for (const ProfileRow& row : rows)
      operations.push(list_of({pass + row.name, 1e3 * row.seconds}));
  };
  add("forward ", p.forward);
  add("backward ", p.backward);
  add("", p.rest);
  return Json::object()
      .set("step_ms", 1e3 * p.seconds)
      .set("layers", std::move(layers))
      .set("operations", std::move(operations));
}

// Calls f. Adds a sentence to the notes if it fails.
template <class F>
void part(std::vector<std::string>& notes, const char* what, F&& f) {
  try {
    f();
  } catch (const Error& error) {
    notes.push_back(fmt::format("{} left out: {}", what, error.what()));
  }
}

}  // namespace

Json details_of(const SavedRun& run, bool profile) {
  const Experiment& experiment = run.config.experiment;
  Json details = Json::object();
  std::vector<std::string> notes;
  part(notes, "Attention, samples and errors are", [&] {
    apply_settings(experiment);
    const Checkpoint checkpoint = run.checkpoint("");
    const Corpus corpus = run.data(checkpoint);
    details.set("data", corpus.notes);
    part(notes, "The model is",
         [&] { details.set("model", table(summarize(experiment, corpus))); });
    const std::unique_ptr<Model> model = run.model(corpus, checkpoint);
    if (corpus.splits.contains("val") || corpus.splits.contains("test")) {
      const std::string split = split_or_default(corpus, "");
      const Dataset& dataset = split_of(corpus, split);
      details.set("step", checkpoint.step()).set("split", split);
      part(notes, "Samples are",
           [&] { details.set("samples", samples_of(*model, corpus, experiment, dataset)); });
      part(notes, "Errors are", [&] { add_errors(*model, corpus, experiment, dataset, details); });
      part(notes, "Attention is",
           [&] { details.set("attention", attention_atlas(run, corpus, split)); });
    }
    if (profile)
      part(notes, "Where the time goes is",
           [&] { details.set("profile", profile_json(experiment, corpus)); });
  });
  return details.set("notes", notes);
}

}  // namespace heed
