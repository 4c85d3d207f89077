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
#include "lab/inspect/heads.h"
#include "lab/inspect/lens.h"
#include "lab/report/attention_atlas.h"
#include "lab/report/charts.h"
#include "lab/report/details.h"
#include "lab/report/page.h"

namespace heed {
namespace {

constexpr size_t most_checkpoints = 21, most_weights = 3'000'000, curve_points = 400;
constexpr int64_t most_map_positions = 100;

// Adds the members of `from` with these names to `to`.
void copy_numbers(const Json& from, std::initializer_list<const char*> names, Json& to) {
  for (const char* name : names)
    if (const auto number = from.find_number(name)) to.set(name, six_digits(*number));
}

// The change of the loss without a part, with its interval; {} if it was not ablated.
Json ablated(const Json& ablation, const std::string& name) {
  Json row = Json::object();
  if (ablation.is_null()) return row;
  for (const Json& part : ablation.at("parts").elements()) {
    if (part.at("part").string() != name) continue;
    copy_numbers(part, {"delta", "accuracy_delta"}, row);
    if (const Json& interval = part.at("interval"); interval.is_array())
      row.set("low", six_digits(interval.elements()[0].number()))
          .set("high", six_digits(interval.elements()[1].number()));
  }
  return row;
}

Json heads_json(const Json& heads, const Json& ablation) {
  Json list = Json::array();
  if (heads.is_null()) return list;
  for (const Json& head : heads.at("heads").elements()) {
    const std::string module = head.at("module").string();
    Json row = ablated(ablation, fmt::format("{}.head.{}", module, head.at("head").integer()));
    row.set("module", module).set("head", head.at("head"));
    copy_numbers(head, {"previous", "induction", "duplicate", "copying"}, row);
    row.set("all", ablated(ablation, module));
    list.push(std::move(row));
  }
  return list;
}

Json lens_json(const Json& lens) {
  Json list = Json::array();
  if (lens.is_null()) return list;
  for (const Json& stage : lens.at("stages").elements()) {
    Json top = Json::array();
    for (const Json& token : stage.at("top").elements())
      top.push(Json::array({token.at("token"), six_digits(token.at("probability").number())}));
    Json row = Json::object().set("stage", stage.at("stage")).set("top", std::move(top));
    copy_numbers(stage, {"loss", "kl"}, row);
    list.push(std::move(row));
  }
  return list;
}

Json parts_json(const Json& attribution) {
  Json list = Json::array();
  if (attribution.is_null()) return list;
  for (const Json& row : attribution.at("rows").elements())
    list.push(Json::array({row.at("part"), six_digits(row.at("value").number())}));
  return list;
}

class Inside {
 public:
  Inside(const LoadedRun& loaded, const Dataset& examples, const InsideRequest& request)
      : loaded_(loaded),
        examples_(examples),
        request_(request),
        one_{1, [&](int64_t, Example& example) { examples.get(request.example, example); },
             examples.collate} {
    size_t weights = 0;
    for (const AttentionMap& map : maps_of(*loaded.model)) {
      weights += static_cast<size_t>(map.weights.size());
      if (std::ssize(map.queries) > most_map_positions || std::ssize(map.keys) > most_map_positions)
        weights = most_weights + 1;
    }
    has_maps_ = weights > 0 && weights <= most_weights;
    if (weights > most_weights)
      notes_.push_back("Attention is left out: the example has too many positions for a page.");
    steps_ = checkpoint_steps(
        loaded.run, has_maps_ ? std::clamp<size_t>(most_weights / weights, 1, most_checkpoints)
                              : most_checkpoints);
    first_ = std::ranges::upper_bound(steps_, loaded.checkpoint.step()) - steps_.begin() - 1;
    describe();
    compute();
  }

  Page page() const;

 private:
  Inspected inspected(const Model& model, const Dataset& examples) const {
    const Experiment& experiment = loaded_.experiment();
    return {model, experiment.model, loaded_.corpus, examples, experiment.train.evaluation_batch()};
  }

  std::vector<AttentionMap> maps_of(const Model& model) const {
    const Inspected here = inspected(model, one_);
    const Inputs inputs = inputs_of(here.one);
    return attention_maps(record_attention(model, inputs), labels_of(inputs, loaded_.corpus));
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
    const Corpus& corpus = loaded_.corpus;
    const Inspected here = inspected(*loaded_.model, one_);
    if (corpus.format.features == 0) {
      const PositionLabels labels = labels_of(inputs_of(here.one), corpus);
      data_.set("input",
                shortened(joined(labels.source.empty() ? labels.target : labels.source, " "), 200));
    }
    part("The lens is left out", [&] {
      const Json seen = lens(here);
      data_.set("target", seen.at("target")).set("position", seen.at("position"));
    });
    part("The attribution is left out", [&] {
      const Json parts = attribute(here);
      data_.set("token", parts.at("token")).set("other", parts.at("other"));
      token_ = parts.at("ids").elements()[0].integer();
      other_ = parts.at("ids").elements()[1].integer();
    });
    const Curves curves = read_curves(loaded_.run.folder.metrics());
    if (const Curve* const curve = curves.find("val.loss"))
      data_.set("curve",
                chart_json({"Validation loss", "val.loss", {{"validation loss", 0, *curve}}},
                           curve_points));
  }

  static bool has_heads(const Json& heads, const std::string& module) {
    return std::ranges::any_of(heads.at("heads").elements(), [&](const Json& head) {
      return head.at("module").string() == module;
    });
  }

  // The views of one checkpoint. What the model does not have is empty.
  Json views_of(const Model& model, int64_t step) {
    const Inspected all = inspected(model, examples_), one = inspected(model, one_);
    Json heads, ablation, seen, attribution;
    part("Heads are left out", [&] {
      heads = head_scores(all, false);
      std::vector<std::string> parts = ablation_parts(all);
      std::erase_if(parts, [&](const std::string& name) {
        return name.find(".head.") == name.npos && !has_heads(heads, name);
      });
      if (!parts.empty()) ablation = ablate(all, request_.with, parts);
    });
    part("The lens is left out", [&] { seen = lens(one); });
    part("The attribution is left out", [&] { attribution = attribute(one, 0, token_, other_); });
    Json row = Json::object()
                   .set("step", step)
                   .set("heads", heads_json(heads, ablation))
                   .set("lens", lens_json(seen))
                   .set("parts", parts_json(attribution));
    copy_numbers(ablation.is_null() ? losses_of(all).json() : ablation.at("baseline"),
                 {"loss", "accuracy"}, row);
    if (!attribution.is_null()) copy_numbers(attribution, {"difference"}, row);
    return row;
  }

  void compute() {
    const ScopeGuard here;
    MapsOfExample maps;
    Json rows = Json::array();
    for (const int64_t step : steps_) {
      if (steps_.size() > 1)
        logging::info("checkpoint {} of {}: step {}", rows.elements().size() + 1, steps_.size(),
                      step);
      const std::unique_ptr<Model> model =
          loaded_.run.model(loaded_.corpus, loaded_.run.checkpoint(std::to_string(step)));
      here->step = static_cast<uint32_t>(step);
      if (has_maps_) maps.push_back(maps_of(*model));
      rows.push(views_of(*model, step));
    }
    data_.set("checkpoints", std::move(rows))
        .set("first", first_)
        .set("maps", has_maps_ ? maps_json(maps) : Json::array())
        .set("split", request_.split);
  }

  const LoadedRun& loaded_;
  const Dataset& examples_;
  const InsideRequest& request_;
  Dataset one_;  // the example
  std::vector<int64_t> steps_;
  int64_t first_ = 0;  // the index of the checkpoint that is shown first
  bool has_maps_ = false;
  std::optional<int64_t> token_ = {}, other_ = {};
  Json data_ = Json::object();
  std::vector<std::string> notes_;
};

Page Inside::page() const {
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
      .set("example", request_.example)
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

std::string inside_page(const LoadedRun& loaded, const Dataset& examples,
                        const InsideRequest& request) {
  return page_file(Inside(loaded, examples, request).page());
}

}  // namespace heed
