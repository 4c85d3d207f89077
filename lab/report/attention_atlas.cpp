#include "lab/report/attention_atlas.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/inference/attended_example.h"
#include "apps/inference/evaluation.h"
#include "apps/inference/predictions.h"
#include "apps/inference/scores.h"
#include "apps/support/digest.h"
#include "apps/support/numbers.h"
#include "core/check.h"
#include "core/scope.h"
#include "core/text.h"
#include "data/first_examples.h"
#include "lab/inspect/heads.h"

namespace heed {

namespace {

constexpr int64_t max_examples = 3, max_tried = 30, max_positions = 100, max_text = 40;
constexpr int64_t max_scored = 32;  // examples for the scores of heads
constexpr size_t max_checkpoints = 8, max_weights = 600'000;

struct AtlasExample {
  std::string title;
  AttendedExample read;
};

// Cuts the input of a language model, which does not change the weights before the cut.
void cut_text(AttendedExample& example) {
  Ids& input = example.inputs.input;
  if (input.size() <= max_text) return;
  Ids cut = Ids::empty({1, max_text});
  std::copy_n(input.data(), max_text, cut.mutable_data());
  input = cut;
  example.inputs.input_lengths = Ids::full({1}, static_cast<int32_t>(max_text));
  example.labels.target.resize(static_cast<size_t>(max_text));
}

std::string title_of(const Prediction& prediction, const std::string& fallback) {
  std::string title = prediction.source.empty() ? fallback : prediction.source;
  if (!prediction.expected.empty()) title += " → " + prediction.expected;
  std::ranges::replace(title, '\n', ' ');
  return shortened(title, 90);
}

// Examples that fit, with the expected output as input of a decoder.
std::vector<AtlasExample> examples_of(const SavedRun& run, const Corpus& corpus,
                                      const std::string& split, const Model& model) {
  const Experiment& experiment = run.config.experiment;
  const Dataset& dataset = split_of(corpus, split);
  const int64_t tried = std::min(max_tried, dataset.size);
  std::vector<Prediction> known(static_cast<size_t>(tried));
  if (has_exact_match(experiment) && !corpus.format.numbers)
    known = predictions(model, corpus, dataset, tried, learned_positions(experiment.model));
  std::vector<AtlasExample> examples;
  for (int64_t i = 0; i < tried && std::ssize(examples) < max_examples; ++i) {
    const Prediction& prediction = known[static_cast<size_t>(i)];
    ExampleRequest request;
    request.example = i;
    request.split = split;
    if (experiment.model.kind == ModelKind::seq2seq) request.target = prediction.expected;
    AtlasExample example{"", attended_example(request, experiment, corpus, model)};
    example.title = title_of(prediction, example.read.source);
    if (experiment.model.kind == ModelKind::language_model) cut_text(example.read);
    const PositionLabels& labels = example.read.labels;
    if (std::ssize(labels.source) <= max_positions && std::ssize(labels.target) <= max_positions)
      examples.push_back(std::move(example));
  }
  check_input(!examples.empty(), "the examples have more than {} positions", max_positions);
  return examples;
}

std::vector<std::string> axis_labels(const std::vector<std::string>& labels) {
  std::vector<std::string> shown;
  for (const std::string& label : labels) shown.push_back(shortened(label, 20));
  return shown;
}

std::vector<AttentionMap> maps_of(const Model& model, const AttendedExample& example) {
  return attention_maps(record_attention(model, example.inputs), example.labels);
}

// The scores that say what a head does (roleOf() of lab/page/heat.js), for each head that has them.
Json scores_of_heads(const Model& model, const Experiment& experiment, const Corpus& corpus,
                     const Dataset& dataset) {
  const Dataset examples = first_of(dataset, max_scored);
  Json heads = Json::array();
  try {
    const HeadScores all = head_scores(
        {model, experiment.model, corpus, examples, experiment.train.evaluation_batch()}, false);
    for (const HeadScores::Head& head : all.heads) {
      Json scores = Json::object().set("module", head.module).set("head", head.index);
      for (const auto& [name, score] : {std::pair("previous", head.previous),
                                        {"duplicate", head.duplicate},
                                        {"induction", head.induction}})
        if (score) scores.set(name, six_digits(*score));
      heads.push(std::move(scores));
    }
  } catch (const InputError&) {  // a model whose heads have no scores
  }
  return heads;
}

}  // namespace

Json maps_json(const MapsOfExample& maps) {
  Json list = Json::array();
  for (size_t layer = 0; layer < maps[0].size(); ++layer) {
    const AttentionMap& first = maps[0][layer];
    double scale = 1;
    bool is_signed = false;
    for (const auto& checkpoint : maps) {
      scale = std::max(scale, largest_weight(checkpoint[layer]));
      const auto values = checkpoint[layer].weights.values();
      is_signed =
          is_signed || std::any_of(values.begin(), values.end(), [](real w) { return w < 0; });
    }
    Json weights = Json::array();
    for (const auto& checkpoint : maps)
      weights.push(base64(attention_bytes(checkpoint[layer], scale)));
    list.push(Json::object()
                  .set("name", first.name)
                  .set("heads", first.heads())
                  .set("rows", axis_labels(first.queries))
                  .set("columns", axis_labels(first.keys))
                  .set("scale", scale)
                  .set("signed", is_signed)
                  .set("weights", std::move(weights)));
  }
  return list;
}

std::vector<int64_t> shown_steps(const SavedRun& run, size_t most) {
  const std::vector<int64_t> steps = run.steps();
  if (steps.size() <= most) return steps;
  if (most == 1) return {steps.back()};
  std::vector<int64_t> chosen;
  for (size_t i = 0; i < most; ++i) chosen.push_back(steps[i * (steps.size() - 1) / (most - 1)]);
  return chosen;
}

Json attention_atlas(const SavedRun& run, const Corpus& corpus, const std::string& split) {
  const ScopeGuard here;
  const int64_t last = Checkpoints(run.folder.checkpoints(), 1).newest_step();
  check_input(last > 0, "there is no checkpoint");
  std::vector<AtlasExample> examples;
  size_t weights = 0;
  {
    const std::unique_ptr<Model> model = run.model(corpus, run.weights(last));
    here->step = static_cast<uint32_t>(last);
    examples = examples_of(run, corpus, split, *model);
    check_input(!maps_of(*model, examples[0].read).empty(), "the model has no attention layers");
    for (const AtlasExample& example : examples)
      for (const AttentionMap& map : maps_of(*model, example.read))
        weights += static_cast<size_t>(map.heads()) * map.queries.size() * map.keys.size();
  }
  check_input(weights <= 2 * max_weights, "it has {} weights, too many for a page", weights);
  const std::vector<int64_t> steps =
      shown_steps(run, std::clamp<size_t>(max_weights / weights, 1, max_checkpoints));
  std::vector<MapsOfExample> maps(examples.size());
  Json step_list = Json::array(), scores = Json::array();
  const Dataset& dataset = split_of(corpus, split);
  for (const int64_t step : steps) {
    const std::unique_ptr<Model> model = run.model(corpus, run.weights(step));
    here->step = static_cast<uint32_t>(step);
    for (size_t i = 0; i < examples.size(); ++i)
      maps[i].push_back(maps_of(*model, examples[i].read));
    step_list.push(step);
    scores.push(scores_of_heads(*model, run.config.experiment, corpus, dataset));
  }
  Json list = Json::array();
  for (size_t i = 0; i < examples.size(); ++i)
    list.push(Json::object().set("title", examples[i].title).set("maps", maps_json(maps[i])));
  return Json::object()
      .set("steps", std::move(step_list))
      .set("scores", std::move(scores))
      .set("examples", std::move(list));
}

}  // namespace heed
