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
#include "lab/report/html.h"
#include "lab/report/page.h"
#include "lab/report/run_page.h"
#include "lab/report/view_page.h"
#include "lab/report/words.h"

namespace heed {
namespace {

constexpr size_t most_checkpoints = 21, most_weights = 3'000'000, curve_points = 400;
constexpr int64_t most_map_positions = 100;

// The views of one checkpoint; none: the model has no such view.
struct Views {
  std::optional<HeadScores> heads;
  std::optional<Ablation> ablation;
  std::optional<Lens> lens;
  std::optional<Attribution> attribution;
  double loss = 0, accuracy = 0;  // of the model
};

// The change of the loss without a part, with its interval; {} if it was not ablated.
Json ablated(const Views& views, const std::string& name) {
  Json row = Json::object();
  if (!views.ablation) return row;
  for (const auto& [part, loss, delta, accuracy_delta] : views.ablation->parts) {
    if (part != name) continue;
    row.set("delta", six_digits(delta.mean)).set("accuracy_delta", six_digits(accuracy_delta.mean));
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

// "decoder-only · 2 layers × 4 heads · width 64 · 104 192 parameters"
std::string facts_of(const ModelOptions& o, const Model& model) {
  const bool is_pair = o.kind == ModelKind::seq2seq;
  const int64_t others = o.decoder_layers > 0 ? o.decoder_layers : o.layers;
  return fmt::format(
      "{} · {} × {} · width {} · {} parameters",
      is_pair                               ? "encoder-decoder"
      : o.kind == ModelKind::language_model ? "decoder-only"
                                            : "classifier",
      is_pair ? fmt::format("{} + {} layers", o.layers, others) : counted(o.layers, "layer"),
      counted(o.heads, "head"), o.dim, thin_grouped(static_cast<double>(model.parameter_count())));
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

  Body body() const;

 private:
  Inspected inspected(const Model& model, const Dataset& examples) const {
    const Experiment& experiment = loaded_.experiment();
    return {model, experiment.model, loaded_.corpus, examples, experiment.train.evaluation_batch()};
  }

  std::vector<AttentionMap> maps_of(const Model& model) const {
    const Inspected here = inspected(model, one_);
    return attention_maps(record_attention(model, here.one), labels_of(here.one, loaded_.corpus));
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
      const PositionLabels labels = labels_of(here.one, corpus);
      data_.set("input",
                shortened(joined(labels.source.empty() ? labels.target : labels.source, " "), 200));
    }
    part("The lens is left out", [&] {
      const Lens seen = lens(here);
      data_.set("target", seen.target).set("position", seen.position);
    });
    part("The attribution is left out", [&] {
      const Attribution parts = attribute(here);
      data_.set("token", parts.token).set("other", parts.other);
      token_ = parts.token_id;
      other_ = parts.other_id;
    });
    const Curves curves = read_curves(loaded_.run.folder.metrics());
    if (const Curve* const curve = curves.find("val.loss"))
      data_.set("curve",
                chart_json({"Validation loss", "val.loss", {{"validation loss", 0, *curve}}},
                           curve_points));
  }

  static bool has_heads(const HeadScores& all, const std::string& module) {
    return std::ranges::find(all.heads, module, &HeadScores::Head::module) != all.heads.end();
  }

  // `is_shown`: its tables can be read without scripts, and that of the lens is over all examples.
  Views views_of(const Model& model, bool is_shown) {
    const Inspected all = inspected(model, examples_);
    Views views;
    part("Heads are left out", [&] {
      views.heads = head_scores(all, false);
      std::vector<std::string> parts = ablation_parts(all);
      std::erase_if(parts, [&](const std::string& name) {
        return name.find(".head.") == name.npos && !has_heads(*views.heads, name);
      });
      if (!parts.empty()) views.ablation = ablate(all, request_.with, parts);
    });
    if (views.ablation) {
      views.loss = views.ablation->loss;
      views.accuracy = views.ablation->accuracy;
    } else {
      const ExampleLosses losses = losses_of(all);
      views.loss = losses.mean_loss();
      views.accuracy = losses.accuracy();
    }
    const Inspected one = inspected(model, one_);
    part("The lens is left out",
         [&] { views.lens = is_shown ? lens(all, request_.example) : lens(one); });
    part("The attribution is left out",
         [&] { views.attribution = attribute(one, 0, token_, other_); });
    return views;
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
      const bool is_shown = step == steps_[static_cast<size_t>(first_)];
      const Views views = views_of(*model, is_shown);
      if (has_maps_) maps.push_back(maps_of(*model));
      Json row = Json::object()
                     .set("step", step)
                     .set("heads", heads_json(views))
                     .set("lens", lens_json(views))
                     .set("parts", parts_json(views))
                     .set("loss", six_digits(views.loss))
                     .set("accuracy", six_digits(views.accuracy));
      if (views.attribution) row.set("difference", six_digits(views.attribution->difference));
      rows.push(std::move(row));
      if (is_shown) shown_ = views;
    }
    data_.set("checkpoints", std::move(rows))
        .set("first", first_)
        .set("maps", has_maps_ ? maps_json(maps) : Json::array())
        .set("split", split_words(request_.split));
  }

  const LoadedRun& loaded_;
  const Dataset& examples_;
  const InsideRequest& request_;
  Dataset one_;  // the example
  std::vector<int64_t> steps_;
  int64_t first_ = 0;  // the index of the checkpoint that is shown first
  bool has_maps_ = false;
  std::optional<int64_t> token_ = {}, other_ = {};
  Views shown_;
  Json data_ = Json::object();
  std::vector<std::string> notes_;
};

Body Inside::body() const {
  const auto drawn = [](const char* name, const auto& view) {
    return view ? html_drawing(name, view_table(view->table())) : "";
  };
  std::string heads = drawn("heads", shown_.heads);
  if (shown_.ablation)
    heads += "<noscript>" + view_table(shown_.ablation->table()) + "</noscript>\n";
  const char* const replaced = request_.with == AblateWith::mean ? "its mean over the examples"
                               : request_.with == AblateWith::zero
                                   ? "0"
                                   : "its output for another example";
  const std::string reading = fmt::format(
      "<p>The slider moves everything: maps, scores, lens and attribution are those of one "
      "checkpoint. Maps, lens and attribution show example {} of the {} split; scores and ablation "
      "read {} of its examples. The bar below a head shows how the loss changes when {} replaces "
      "its output, with a 95 % interval, paired by example.</p>\n"
      "<p>A score says where a head looks, not what it does with it. An ablation says that the "
      "model, as it stands, needs a head; another head may take over if it is trained without. "
      "If two heads do the same work, the loss changes little without one of them.</p>\n",
      request_.example, html(split_words(request_.split)),
      thin_grouped(static_cast<double>(examples_.size)), replaced);
  const std::pair<const char*, Section> sections[] = {
      {"Heads", {"heads", "Heads", "", heads}},
      {"Lens",
       {"lens", "What the model would say after each layer", "logit lens, at the last target",
        drawn("lens", shown_.lens)}},
      {"Attribution",
       {"parts", "Which parts make the difference", "direct logit attribution",
        drawn("parts", shown_.attribution)}},
      {"Reading", {"reading", "How to read this page", "", reading + notes_part(notes_)}}};
  std::string contents, main = fmt::format("<div id=\"steps\">{}</div>\n<div id=\"inside\">\n",
                                           html_drawing("steps", ""));
  for (const auto& [name, section] : sections) {
    if (section.content.empty()) continue;
    contents += fmt::format("<a href=\"#{}\">{}</a>", section.id, name);
    main += html_section(section);
    if (!heads.empty() && section.id == std::string("heads"))
      main += "<section id=\"head\" aria-label=\"The chosen head\">" + html_drawing("head", "") +
              "</section>\n";
  }
  return {fmt::format("<h1>{}</h1><span class=\"q s\">{}</span>", html(loaded_.path()),
                      facts_of(loaded_.experiment().model, *loaded_.model)),
          contents, main + "</div>\n", data_};
}

}  // namespace

std::string inside_page(const LoadedRun& loaded, const Dataset& examples,
                        const InsideRequest& request) {
  return page_file(loaded.path() + ": inside", Inside(loaded, examples, request).body());
}

}  // namespace heed
