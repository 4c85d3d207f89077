#include "lab/report/inside_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/inference/attended_example.h"
#include "apps/inference/evaluation.h"
#include "apps/support/log.h"
#include "apps/support/numbers.h"
#include "core/joined.h"
#include "core/text.h"
#include "lab/experiments/curves.h"
#include "lab/inspect/attribute.h"
#include "lab/inspect/embeddings.h"
#include "lab/inspect/heads.h"
#include "lab/inspect/lens.h"
#include "lab/report/attention_atlas.h"
#include "lab/report/charts.h"
#include "lab/report/details.h"
#include "lab/report/page.h"

namespace heed {
namespace {

constexpr size_t most_steps = 22, most_weights = 3'000'000, curve_points = 400;
constexpr int64_t most_map_positions = 100;
constexpr size_t most_tokens = 48, most_shares = 16;  // of the embeddings
constexpr size_t most_losses = 60'000;                // by position

// The views of one checkpoint; none: the model has no such view.
struct Views {
  std::optional<HeadScores> heads;
  std::optional<Ablation> ablation;
  std::optional<Lens> lens;
  std::optional<Attribution> attribution;
  bool by_position = false;  // whether the changes at each position are shown
};

// The change of the loss without a part, with its interval; {} if it was not ablated.
Json ablated(const Views& views, const std::string& name) {
  Json row = Json::object();
  if (!views.ablation) return row;
  for (const auto& [part, loss, delta, accuracy_delta, by_position] : views.ablation->parts) {
    if (part != name) continue;
    row.set("delta", six_digits(delta.mean)).set("accuracy_delta", six_digits(accuracy_delta.mean));
    if (views.by_position) {
      Json at = Json::array();
      const auto &without = by_position.elements(), &with = views.ablation->by_position.elements();
      for (size_t i = 0; i < with.size(); ++i)
        at.push(six_digits(without[i].elements()[1].number() - with[i].elements()[1].number()));
      row.set("at", std::move(at));
    }
    if (delta.has_interval())
      row.set("low", six_digits(delta.interval.low)).set("high", six_digits(delta.interval.high));
  }
  return row;
}

Json heads_json(const Views& views) {
  Json list = Json::array();
  if (!views.heads) return list;
  for (const HeadScores::Head& head : views.heads->heads) {
    Json row = ablated(views, head.name());
    row.set("module", head.module).set("head", head.index);
    for (const auto& [name, score] : {std::pair("previous", head.previous),
                                      {"induction", head.induction},
                                      {"duplicate", head.duplicate},
                                      {"copying", head.copying}})
      if (score) row.set(name, six_digits(*score));
    row.set("all", ablated(views, head.module));
    list.push(std::move(row));
  }
  return list;
}

Json lens_json(const Views& views) {
  Json list = Json::array();
  if (!views.lens) return list;
  for (const auto& [name, prediction] : views.lens->stages) {
    Json top = Json::array();
    for (const PredictedToken& each : prediction.top)
      top.push(Json::array({each.token, six_digits(each.probability)}));
    list.push(Json::object()
                  .set("stage", name)
                  .set("top", std::move(top))
                  .set("loss", six_digits(prediction.loss))
                  .set("kl", six_digits(prediction.kl)));
  }
  return list;
}

Json parts_json(const Views& views) {
  Json list = Json::array();
  if (!views.attribution) return list;
  for (const auto& [name, value] : views.attribution->parts)
    list.push(Json::array({name, six_digits(value)}));
  return list;
}

// An example whose maps, lens and attribution the page shows.
struct ShownExample {
  int64_t index;
  std::string why;
  Dataset alone;
  std::optional<int64_t> token = {}, other = {};  // of the attribution
  MapsOfExample maps = {};
  Json data = Json::object(), views = Json::array();
};

class Inside {
 public:
  Inside(const TrainedModel& loaded, const Dataset& examples, const InsideRequest& request)
      : loaded_(loaded), examples_(examples), request_(request) {
    choose();
    const size_t weights = weights_of(shown_[0]);
    has_maps_ = weights > 0 && weights <= most_weights;
    if (weights > most_weights)
      notes_.push_back("Attention is left out: the example has too many positions for a page.");
    steps_ = shown_steps(loaded.run, has_maps_
                                         ? std::clamp<size_t>(most_weights / weights, 1, most_steps)
                                         : most_steps);
    if (has_maps_) {
      size_t all = 0;
      const auto fits = [&](const ShownExample& shown) {
        all += weights_of(shown) * steps_.size();
        return all <= most_weights;
      };
      shown_.erase(std::ranges::find_if_not(shown_.begin() + 1, shown_.end(), fits), shown_.end());
    }
    first_ = std::ranges::upper_bound(steps_, loaded.checkpoint.step()) - steps_.begin() - 1;
    describe();
    compute();
  }

  FactsPage page() const;

 private:
  Inspected inspected(const Model& model, const Dataset& examples) const {
    const Experiment& experiment = loaded_.experiment();
    return {model, experiment.model, loaded_.corpus, examples, experiment.train.evaluation_batch()};
  }

  std::vector<AttentionMap> maps_of(const Model& model, const ShownExample& shown) const {
    const Inspected here = inspected(model, shown.alone);
    return attention_maps(record_attention(model, here.one), labels_of(here.one, loaded_.corpus));
  }

  // The weights of its maps; more than most_weights if it has too many positions.
  size_t weights_of(const ShownExample& shown) const {
    size_t weights = 0;
    for (const AttentionMap& map : maps_of(*loaded_.model, shown)) {
      weights += static_cast<size_t>(map.weights.size());
      if (std::ssize(map.queries) > most_map_positions || std::ssize(map.keys) > most_map_positions)
        return most_weights + 1;
    }
    return weights;
  }

  // Chooses the examples to show, the first one first.
  void choose() {
    const ExampleLosses losses = losses_of(inspected(*loaded_.model, examples_));
    std::vector<std::pair<double, int64_t>> right, wrong, all;  // mean loss, example
    for (size_t i = 0; i < losses.loss.size(); ++i) {
      if (losses.targets[i] == 0) continue;
      const std::pair each{losses.loss[i] / losses.targets[i], static_cast<int64_t>(i)};
      (losses.correct[i] == losses.targets[i] ? right : wrong).push_back(each);
      all.push_back(each);
    }
    if (request_.example) show(*request_.example, "asked for");
    if (!right.empty()) show(std::ranges::max(right).second, "hardest that is right");
    if (const auto median = all.begin() + std::ssize(all) / 2; !all.empty()) {
      std::ranges::nth_element(all, median);
      show(median->second, "median loss");
    }
    if (!wrong.empty() && !loaded_.corpus.format.numbers)
      show(std::ranges::max(wrong).second, "hardest that is wrong");
    if (shown_.empty()) show(0, "first");
  }
  void show(int64_t index, const char* why) {
    if (std::ranges::find(shown_, index, &ShownExample::index) != shown_.end()) return;
    const auto get = [this, index](int64_t, Example& example) { examples_.get(index, example); };
    shown_.push_back({index, why, {1, get, examples_.collate}});
  }

  // Calls f. If the model has no such view, the page says why.
  template <class F>
  void part(const char* what, F&& f) {
    std::vector<std::string> notes;
    note_failure(notes, what, f);
    for (const std::string& note : notes)
      if (std::ranges::find(notes_, note) == notes_.end()) notes_.push_back(note);
  }

  // Computes what all checkpoints share.
  void describe() {
    for (ShownExample& shown : shown_) describe(shown);
    const Curves curves = read_curves(loaded_.run.folder.metrics());
    if (const Curve* const curve = curves.find("val.loss"))
      data_.set("curve",
                chart_json({"Validation loss", "val.loss", {{"validation loss", 0, *curve}}},
                           curve_points));
  }
  void describe(ShownExample& shown) {
    const Corpus& corpus = loaded_.corpus;
    const Inspected here = inspected(*loaded_.model, shown.alone);
    shown.data.set("example", shown.index).set("why", shown.why);
    if (corpus.format.features == 0) {
      const PositionLabels labels = labels_of(here.one, corpus);
      shown.data.set(
          "input",
          shortened(joined(labels.source.empty() ? labels.target : labels.source, " "), 200));
    }
    part("The lens is left out", [&] {
      const Lens seen = lens(here);
      shown.data.set("target", seen.target).set("position", seen.position);
    });
    part("The attribution is left out", [&] {
      const Attribution parts = attribute(here);
      shown.data.set("token", parts.token).set("other", parts.other);
      shown.token = parts.token_id;
      shown.other = parts.other_id;
    });
  }

  static bool has_heads(const HeadScores& all, const std::string& module) {
    return std::ranges::find(all.heads, module, &HeadScores::Head::module) != all.heads.end();
  }

  // The heads at one checkpoint, on all examples. What the model does not have is empty.
  Json heads_of(const Model& model, int64_t step) {
    const Inspected all = inspected(model, examples_);
    Views views;
    part("Heads are left out", [&] {
      views.heads = head_scores(all, false);
      std::vector<std::string> parts = ablation_parts(all);
      std::erase_if(parts, [&](const std::string& name) {
        return name.find(".head.") == name.npos && !has_heads(*views.heads, name);
      });
      if (parts.empty()) return;
      views.ablation = ablate(all, request_.with, parts);
      const auto& positions = views.ablation->by_position.elements();
      views.by_position =
          positions.size() > 1 && positions.size() * parts.size() * steps_.size() <= most_losses;
      if (views.by_position)
        data_.set("positions",
                  Json::list(positions, [](const Json& each) { return each.elements()[0]; }));
    });
    Json row = Json::object().set("step", step).set("heads", heads_json(views));
    part("Embeddings are left out", [&] { row.set("embeddings", embeddings_json(all)); });
    if (views.ablation) {
      row.set("loss", six_digits(views.ablation->loss))
          .set("accuracy", six_digits(views.ablation->accuracy));
    } else {
      const ExampleLosses losses = losses_of(all);
      row.set("loss", six_digits(losses.mean_loss()))
          .set("accuracy", six_digits(losses.accuracy()));
    }
    return row;
  }

  // The embeddings at one checkpoint. Each component has the sign that it had at the one before.
  Json embeddings_json(const Inspected& all) {
    auto [tokens, components] = embeddings(all, most_tokens);
    auto& [points, shares] = components;
    Json x = Json::array(), y = Json::array(), list = Json::array();
    for (size_t c = 0; c < 2; ++c) {
      double same = 0;
      for (size_t i = 0; i < points.size() && !points_.empty(); ++i)
        same += points[i][c] * points_[i][c];
      for (auto& point : points) {
        if (same < 0) point[c] = -point[c];
        (c == 0 ? x : y).push(six_digits(point[c]));
      }
    }
    points_ = points;
    for (size_t i = 0; i < std::min(shares.size(), most_shares); ++i)
      list.push(six_digits(shares[i]));
    data_.set("tokens", tokens);
    return Json::object()
        .set("x", std::move(x))
        .set("y", std::move(y))
        .set("shares", std::move(list));
  }

  // Lens and attribution of an example at one checkpoint.
  Json views_of(const Model& model, const ShownExample& shown) {
    const Inspected one = inspected(model, shown.alone);
    Views views;
    part("The lens is left out", [&] { views.lens = lens(one); });
    part("The attribution is left out",
         [&] { views.attribution = attribute(one, 0, shown.token, shown.other); });
    Json row = Json::object().set("lens", lens_json(views)).set("parts", parts_json(views));
    if (views.attribution) row.set("difference", six_digits(views.attribution->difference));
    return row;
  }

  void compute() {
    const ScopeGuard here;
    Json rows = Json::array(), all = Json::array();
    for (const int64_t step : steps_) {
      if (steps_.size() > 1)
        logging::info("{} of {}: step {}", rows.elements().size() + 1, steps_.size(), step);
      const std::unique_ptr<Model> model =
          loaded_.run.model(loaded_.corpus, loaded_.run.weights(step));
      here->step = static_cast<uint32_t>(step);
      rows.push(heads_of(*model, step));
      for (ShownExample& shown : shown_) {
        if (has_maps_) shown.maps.push_back(maps_of(*model, shown));
        shown.views.push(views_of(*model, shown));
      }
    }
    for (ShownExample& shown : shown_)
      all.push(shown.data.set("maps", has_maps_ ? maps_json(shown.maps) : Json::array())
                   .set("views", shown.views));
    data_.set("checkpoints", std::move(rows))
        .set("first", first_)
        .set("shown", std::move(all))
        .set("split", request_.split);
  }

  const TrainedModel& loaded_;
  const Dataset& examples_;
  const InsideRequest& request_;
  std::vector<ShownExample> shown_;
  std::vector<int64_t> steps_;
  int64_t first_ = 0;  // the index of the checkpoint that is shown first
  bool has_maps_ = false;
  std::vector<std::array<double, 2>> points_;  // of the embeddings at the last checkpoint
  Json data_ = Json::object();
  std::vector<std::string> notes_;
};

FactsPage Inside::page() const {
  const std::string path = loaded_.path();
  const ModelOptions& o = loaded_.experiment().model;
  Json data = data_;
  data.set("page", "inside")
      .set("model", Json::object()
                        .set("kind", o.kind == ModelKind::seq2seq          ? "encoder-decoder"
                                     : o.kind == ModelKind::language_model ? "decoder-only"
                                                                           : "classifier")
                        .set("layers", o.layers)
                        .set("decoder_layers", o.decoder_layers > 0 ? o.decoder_layers : o.layers)
                        .set("heads", o.heads)
                        .set("width", o.dim)
                        .set("parameters", loaded_.model->parameter_count()))
      .set("examples", examples_.size)
      .set("with", name_of(ablate_with_names, request_.with))
      .set("notes", notes_);
  const Json& shown = data.at("checkpoints").elements()[static_cast<size_t>(first_)];
  std::vector<Table::Row> facts = {{"split", request_.split},
                                   {"step", grouped(shown.at("step").integer())}};
  for (const char* name : {"loss", "accuracy"})
    if (const auto number = shown.find_number(name)) facts.push_back({name, four_digits(*number)});
  return {path + ": inside", path, data, facts};
}

}  // namespace

FactsPage inside_page(const TrainedModel& loaded, const Dataset& examples,
                      const InsideRequest& request) {
  return Inside(loaded, examples, request).page();
}

FactsPage inside_page(const std::string& path) {
  SavedRun run = SavedRun::open(path);
  apply_settings(run.config.experiment);
  const TrainedModel loaded(std::move(run), "", TrainedModel::Needs::data);
  const TrainedModel::Here here(loaded);
  const std::string split = split_or_default(loaded.corpus, "");
  return inside_page(loaded, first_of(split_of(loaded.corpus, split), inside_examples),
                     {.split = split, .example = {}});
}

}  // namespace heed
