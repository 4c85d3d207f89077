#include "course/playground/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "apps/config/load_config.h"
#include "apps/config/toml.h"
#include "apps/inference/attended_example.h"
#include "apps/inference/evaluation.h"
#include "apps/inference/predictions.h"
#include "core/check.h"
#include "core/named.h"
#include "core/scope.h"
#include "course/playground/mistakes.h"
#include "course/playground/positions.h"
#include "data/first_examples.h"
#include "lab/inspect/ablate.h"
#include "lab/inspect/heads.h"
#include "lab/inspect/trace.h"

namespace heed {
namespace {

constexpr size_t max_toml_bytes = 1 << 16;
constexpr int64_t max_parameters = 2'000'000;
constexpr double max_multiplications = 2e10;  // of a step: some seconds

// The largest values for a page, of keys whose own ranges suit a terminal.
constexpr Named<int64_t> playground_limits[] = {{"model.dim", 256},
                                                {"model.encoder_dim", 256},
                                                {"model.layers", 12},
                                                {"model.decoder_layers", 12},
                                                {"model.heads", 16},
                                                {"model.feed_forward", 1024},
                                                {"model.pool_queries", 32},
                                                {"model.positional.max_length", 1024},
                                                {"model.positional.dim", 256},
                                                {"model.positional.buckets", 256},
                                                {"model.attention.key_dim", 256},
                                                {"model.attention.value_dim", 256},
                                                {"model.attention.key_dims", 256},
                                                {"model.attention.value_dims", 256},
                                                {"model.attention.projection_hidden", 1024},
                                                {"model.attention.output_dim", 256},
                                                {"model.attention.graph_distances", 64},
                                                {"model.block.kernel_size", 65},
                                                {"model.block.length", 256},
                                                {"train.batch_size", 256},
                                                {"train.accumulate", 8},
                                                {"train.average_checkpoints", 8},
                                                {"data.symbols", 500},
                                                {"data.lengths", 64},
                                                {"data.longer_lengths", 64},
                                                {"data.digits", 6},
                                                {"data.modulus", 200},
                                                {"data.size", 16},
                                                {"data.frames", 4},
                                                {"data.edge_kinds", 16},
                                                {"data.nouns", 16},
                                                {"data.train_size", 1'000'000},
                                                {"data.val_size", 2000},
                                                {"data.test_size", 2000},
                                                {"data.bucketing", 64}};

// The maximum of an integer, or of a list of them; 0 for other values.
int64_t largest_integer(const FieldValue& value) {
  if (const auto* const integer = std::get_if<int64_t>(&value)) return *integer;
  const auto* const list = std::get_if<std::vector<int64_t>>(&value);
  return list && !list->empty() ? *std::ranges::max_element(*list) : 0;
}

void check_playable(const Experiment& experiment) {
  check_input(experiment.data.kind->is_task(),
              "`data.kind` = \"{}\" reads files, which a page cannot: choose a generated task",
              experiment.data.kind->name);
  for (const auto& [entry, standard] : changed_values(experiment)) {
    check_input(entry.type.find("path") == std::string::npos,
                "`{}`: a page reads no files; remove this key", entry.key);
    for (const auto& [key, most] : playground_limits)
      check_input(
          entry.key != key || largest_integer(entry.value) <= most,
          "`{}` = {} is too large for a page, which allows at most {}: train it with `heed train`",
          entry.key, entry.text(), most);
  }
}

void check_cost(const Model& model, const Experiment& experiment, const Corpus& corpus) {
  const int64_t parameters = model.parameter_count();
  check_input(parameters <= max_parameters,
              "the model has {} parameters, too many for a page, which allows {}: reduce "
              "`model.dim` or `model.layers`",
              parameters, max_parameters);
  const auto positions = static_cast<double>(std::max(corpus.longest_source, corpus.longest_input));
  const double multiplications =
      3.0 * static_cast<double>(parameters) * positions *
      static_cast<double>(experiment.train.batch_size * experiment.train.accumulate);
  check_input(multiplications <= max_multiplications,
              "a step takes about {:.0e} multiplications, too many for a page, which allows "
              "{:.0e}: reduce `train.batch_size`, `model.dim` or `data.lengths`",
              multiplications, max_multiplications);
}

// Weights that a step has not seen yet read settings that change during training.
void evaluate_at(int64_t step) {
  scope().training = scope().gradients = false;
  scope().step = static_cast<uint32_t>(step);
}

Json map_json(const AttentionMap& map) {
  const double scale = std::max(1.0, largest_weight(map));
  const auto values = map.weights.values();
  Json weights = Json::array();
  for (const char byte : attention_bytes(map, scale))
    weights.push(int64_t{static_cast<unsigned char>(byte)});
  return Json::object()
      .set("name", map.name)
      .set("heads", map.heads())
      .set("queries", map.queries)
      .set("keys", map.keys)
      .set("rows", int64_t{std::ssize(map.queries)})
      .set("columns", int64_t{std::ssize(map.keys)})
      .set("scale", scale)
      .set("signed", std::any_of(values.begin(), values.end(), [](real w) { return w < 0; }))
      .set("weights", std::move(weights));
}

// While it exists, a part of a model writes nothing to its stream: the weights that write are 0.
class Without {
 public:
  Without(const Inspected& inspected, const std::string& part) {
    if (!part.empty()) leave_out(inspected, part);
  }
  ~Without() {
    for (auto saved = saved_.rbegin(); saved != saved_.rend(); ++saved)
      std::ranges::copy(saved->second, saved->first.mutable_data());
  }
  Without(const Without&) = delete;
  Without& operator=(const Without&) = delete;

 private:
  // Sets the columns of a head, or a whole tensor, to 0.
  void zero(Tensor tensor, int64_t first, int64_t last) {
    const std::span<const real> values = tensor.values();
    saved_.emplace_back(tensor, std::vector<real>(values.begin(), values.end()));
    const int64_t width = tensor.dim(-1);
    for (int64_t i = 0; i < tensor.size(); ++i)
      if (i % width >= first && i % width < last) tensor.mutable_data()[i] = 0;
  }
  void leave_out(const Inspected& inspected, const std::string& name) {
    const size_t of_head = name.find(".head.");
    for (const Sublayer& s : sublayers_of(inspected)) {
      if (s.name != name.substr(0, of_head)) continue;
      for (const char* last : {".output", ".down"}) {
        const auto found = inspected.parameters.find(s.name + last + ".weight");
        if (found == inspected.parameters.end()) continue;
        const Tensor& weight = found->second;
        if (of_head == name.npos) {
          zero(weight, 0, weight.dim(-1));
          const auto bias = inspected.parameters.find(s.name + last + ".bias");
          if (bias != inspected.parameters.end()) zero(bias->second, 0, bias->second.dim(-1));
          return;
        }
        for (int64_t h = 0; h < s.heads && s.is_sum_of_heads; ++h)
          if (name == fmt::format("{}.head.{}", s.name, h))
            return zero(weight, h * s.width, (h + 1) * s.width);
      }
    }
    throw InputError(fmt::format("{} cannot be left out of this model", in_quotes(name)));
  }

  std::vector<std::pair<Tensor, std::vector<real>>> saved_;
};

// The first three features of each position as bytes: red, green and blue.
Json pixels(const Batch& batch) {
  const Tensor& features = batch.features;
  const int64_t width = features.dim(2);
  Json list = Json::array();
  for (int64_t t = 0; t < features.dim(1); ++t) {
    Json colour = Json::array();
    for (int64_t c = 0; c < 3; ++c) {
      const auto value = double{features.data()[t * width + std::min(c, width - 1)]};
      colour.push(static_cast<int64_t>(std::lround(255 * std::clamp(value, 0.0, 1.0))));
    }
    list.push(std::move(colour));
  }
  return list;
}

Json edges(const Batch& batch) {
  Json list = Json::array();
  for (int64_t e = 0; e < batch.edges.sender.size(); ++e)
    list.push(Json::array({int64_t{batch.edges.sender[e]}, int64_t{batch.edges.receiver[e]}}));
  return list;
}

// The text that the user typed, with what the model generated for it, as an example.
Example typed_example(const AttendedExample& read, const Corpus& corpus) {
  const auto tokens = [](const Ids& ids) {
    return std::vector<int32_t>(ids.data(), ids.data() + ids.size());
  };
  Example example;
  if (read.inputs.source) example.source = tokens(read.inputs.source);
  example.input = tokens(read.inputs.input);
  example.target.assign(example.input.size(), ignored);
  if (corpus.framing == ModelKind::classifier) {
    const auto label = std::ranges::find(corpus.labels, read.target);
    example.target.assign(1, static_cast<int32_t>(label - corpus.labels.begin()));
  }
  return example;
}

// Numbers that a picture shows, with fewer digits.
Json rounded(std::span<const real> values) {
  Json list = Json::array();
  for (const real value : values) list.push(std::round(double{value} * 1e3) / 1e3);
  return list;
}

// At most `most` numbers at each position of x (1, T, D).
Json vectors(const Tensor& x, int64_t most) {
  const int64_t width = x.dim(2);
  Json list = Json::array();
  for (int64_t t = 0; t < x.dim(1); ++t)
    list.push(rounded({x.data() + t * width, static_cast<size_t>(std::min(most, width))}));
  return list;
}

// Adds "vectors" and "units": see trace() in session.h.
void add_parts(const Inspected& inspected, int64_t position, Json& json) {
  Json embedded = Json::array(), units = Json::array();
  Tensor tokens;
  const bool shares =
      inspected.options.kind == ModelKind::seq2seq && inspected.options.share_embeddings;
  const NamedTap tap(
      inspected,
      [](const std::string&, Site site) {
        return site == Site::tokens || site == Site::embedded || site == Site::activation;
      },
      [&](const std::string& layer, Site site, const Tensor& value) {
        if (site == Site::tokens) tokens = value;
        if (site == Site::embedded) {
          const bool is_source = shares && embedded.elements().empty();
          Json row = Json::object()
                         .set("stage", is_source ? "source_embedding" : layer)
                         .set("token", vectors(tokens, 8));
          if (tokens.shape() == value.shape()) row.set("position", vectors(value - tokens, 8));
          embedded.push(std::move(row));
        }
        if (site == Site::activation) {
          const int64_t last = value.dim(1) - 1;
          const int64_t t = position < 0 ? last : std::min(position, last);
          units.push(Json::object()
                         .set("stage", layer)
                         .set("values", rounded({value.data() + t * value.dim(2),
                                                 static_cast<size_t>(value.dim(2))})));
        }
        return Tensor();
      });
  inspected.model.logits(inspected.one);
  json.set("vectors", std::move(embedded)).set("units", std::move(units));
}

// The loss of a model that knows only how often each target occurs: their entropy, in nats.
double guess_loss(const Dataset& examples) {
  std::map<int32_t, double> counts;
  double all = 0;
  Example example;
  for (int64_t i = 0; i < examples.size; ++i) {
    examples.get(i, example);
    for (const int32_t target : example.target)
      if (target != ignored) ++counts[target], ++all;
  }
  double sum = 0;
  for (const auto& [target, count] : counts) sum -= count / all * std::log(count / all);
  return sum;
}

template <class Integers>
Json list_of(const Integers& values) {
  return Json::array(std::vector<Json>(values.begin(), values.end()));
}

}  // namespace

PlaygroundSession::Settings PlaygroundSession::read(std::string_view toml,
                                                    std::string_view mistake) {
  check_input(toml.size() <= max_toml_bytes, "the config is longer than {} bytes", max_toml_bytes);
  Settings settings;
  settings.origins =
      ConfigSource::of(parse_toml(toml, "config"), "config").fill(settings.experiment);
  with_origins(settings.origins, [&] {
    check_playable(settings.experiment);
    settings.experiment.validate();
    if (!mistake.empty()) make_mistake(mistake, settings.experiment);
  });
  return settings;
}

PlaygroundSession::PlaygroundSession(std::string_view toml, std::string_view mistake)
    : settings_(read(toml, mistake)),
      corpus_(with_origins(settings_.origins,
                           [&] {
                             const Experiment& e = settings_.experiment;
                             return in_section("data", [&] {
                               return load_corpus(e.data, e.model.kind,
                                                  static_cast<uint64_t>(e.seed));
                             });
                           })),
      trainer_(with_origins(settings_.origins, [&] {
        settings_.experiment.take_all_examples(corpus_);
        return Trainer(settings_.experiment, corpus_);
      })) {
  with_origins(settings_.origins,
               [&] { check_cost(trainer_.model(), settings_.experiment, corpus_); });
}

Json PlaygroundSession::summary() const {
  const Experiment& experiment = settings_.experiment;
  Json values = Json::object(), parameters = Json::array();
  ConfigListing set;  // the keys that differ from their defaults
  for (const auto& [entry, standard] : changed_values(experiment)) {
    set.push_back(entry);
    values.set(entry.key, entry.text());
  }
  Json unused = Json::array();
  for (const ConfigEntry& entry : list_config(experiment))
    if (!entry.is_used) unused.push(entry.key);
  for (const NamedParameter& p : trainer_.model().parameters()) {
    parameters.push(Json::object().set("name", p.name).set("shape", list_of(p.tensor.shape())));
  }
  Json tokens = Json::array();
  if (const TextCodec* codec = corpus_.source ? corpus_.source.get() : corpus_.target.get())
    for (int32_t id = 0; id < codec->vocabulary().size(); ++id)
      tokens.push(token_label(*codec, id));
  std::vector<std::string> outputs = corpus_.labels;
  if (outputs.empty())
    for (int32_t id = 0; id < corpus_.target->vocabulary().size(); ++id)
      outputs.push_back(token_label(*corpus_.target, id));
  return Json::object()
      .set("config", config_text(set))
      .set("values", std::move(values))
      .set("unused", std::move(unused))
      .set("steps", experiment.train.steps)
      .set("parameter_count", trainer_.model().parameter_count())
      .set("parameters", std::move(parameters))
      .set("tokens", std::move(tokens))
      .set("outputs", outputs)
      .set("validation", measured_split(corpus_).size)
      .set("guess", guess_loss(measured_split(corpus_)))
      .set("reads_text", corpus_.format.features == 0);
}

Json PlaygroundSession::scores() {
  ScopeGuard here;
  evaluate_at(steps_done());
  const AveragedWeights averaged(trainer_);
  const Measured scores = evaluate(trainer_.model(), measured_split(corpus_), corpus_.framing,
                                   settings_.experiment.train.batch_size);
  return Json::object().set("loss", scores.loss).set("exact_match", scores.exact_match);
}

Inspected PlaygroundSession::inspected(const Dataset& examples, int64_t batch_size) const {
  return {trainer_.model(), settings_.experiment.model, corpus_, examples, batch_size};
}

Json PlaygroundSession::predictions(int64_t count, const std::string& without) {
  ScopeGuard here;
  evaluate_at(steps_done());
  const Dataset& split = measured_split(corpus_);
  const Inspected all = inspected(first_of(split, 1), 1);
  const Without left_out(all, without);
  Batches batches = Batches::in_order(split, corpus_.framing, 1);
  Json list = Json::array();
  for (const Prediction& p : heed::predictions(trainer_.model(), corpus_, split, count,
                                               learned_positions(settings_.experiment.model))) {
    Json row = Json::object()
                   .set("source", p.source)
                   .set("predicted", p.predicted)
                   .set("expected", p.expected);
    if (!corpus_.grid.empty()) {
      Batch batch;
      batches.get(std::ssize(list.elements()), batch);
      row.set("pixels", pixels(batch));
    }
    list.push(std::move(row));
  }
  return list;
}

Json PlaygroundSession::trace(const std::string& text, int64_t index, int64_t position,
                              const std::string& without) {
  ScopeGuard here;
  evaluate_at(steps_done());
  const Experiment& experiment = settings_.experiment;
  const Dataset& split = measured_split(corpus_);
  check_input(index >= 0 && index < split.size, "there are {} examples, counted from 0",
              split.size);
  const Model& model = trainer_.model();
  ExampleRequest request;
  if (!text.empty()) request.text = text;
  Example typed;
  if (!text.empty())
    typed = typed_example(attended_example(request, experiment, corpus_, model), corpus_);
  const Dataset one{1,
                    [&](int64_t, Example& example) {
                      if (text.empty())
                        split.get(index, example);
                      else
                        example = typed;
                    },
                    split.collate};
  const Inspected here_only = inspected(one, 1);
  const Without left_out(here_only, without);
  const int64_t outputs = model.head().weight.dim(0);
  Json json = heed::trace(here_only, 0, outputs <= 16 ? 16 : 12).json();
  json.set("typed", !text.empty()).set("residual", experiment.model.mixing.residual);
  const Batch& batch = here_only.one;
  const bool reads_features = corpus_.format.features > 0;
  Json maps = Json::array();
  for (const AttentionMap& map :
       attention_maps(record_attention(model, batch), labels_of(batch, corpus_)))
    maps.push(map_json(map));
  json.set("maps", std::move(maps));
  add_parts(here_only, position, json);
  if (reads_features && !corpus_.grid.empty())
    json.set("pixels", pixels(batch)).set("grid", list_of(corpus_.grid));
  if (reads_features && corpus_.format.has_edges) json.set("edges", edges(batch));
  return json;
}

Json PlaygroundSession::heads() {
  ScopeGuard here;
  evaluate_at(steps_done());
  const Dataset few = first_of(measured_split(corpus_), 64);
  return head_scores(inspected(few, few.size), /*composition=*/false).json();
}

Json PlaygroundSession::ablate(const std::string& part) {
  ScopeGuard here;
  evaluate_at(steps_done());
  const Inspected all = inspected(measured_split(corpus_), settings_.experiment.train.batch_size);
  const Ablation::Part row = heed::ablate(all, AblateWith::zero, {part}).parts[0];
  const Without left_out(all, part);
  return Json::object()
      .set("loss", row.loss)
      .set("delta", row.delta.mean)
      .set("interval", interval_json(row.delta))
      .set("exact_match", scores().at("exact_match"));
}

Json PlaygroundSession::positions() const {
  return position_pictures(settings_.experiment, corpus_, trainer_.model());
}

int64_t PlaygroundSession::weight_count() const { return trainer_.model().parameter_count(); }

void PlaygroundSession::weights(std::span<real> to) const {
  auto at = to.begin();
  for (const NamedParameter& p : trainer_.model().parameters())
    at = std::copy(p.tensor.values().begin(), p.tensor.values().end(), at);
}

void PlaygroundSession::set_weights(std::span<const real> from) {
  const real* at = from.data();
  for (NamedParameter& p : trainer_.model().parameters()) {
    std::copy_n(at, p.tensor.size(), p.tensor.mutable_data());
    at += p.tensor.size();
  }
}

Json playground_keys() {
  Json keys = Json::array();
  for (const ConfigEntry& entry : list_config(Experiment()))
    keys.push(Json::object()
                  .set("key", entry.key)
                  .set("type", entry.type)
                  .set("value", entry.text())
                  .set("allowed", entry.allowed)
                  .set("help", entry.help));
  return keys;
}

}  // namespace heed
