#include "course/playground/session.h"

#include <algorithm>
#include <cstdlib>

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

// The maximum of the integers in a value of TOML: "12", "[1, 25]".
int64_t largest_integer(const std::string& value) {
  int64_t largest = 0;
  for (const char* at = value.c_str(); *at != '\0';) {
    char* end = nullptr;
    const int64_t integer = std::strtoll(at, &end, 10);
    largest = std::max(largest, integer);
    at = end == at ? at + 1 : end;
  }
  return largest;
}

// Returns the keys that differ from their defaults.
ConfigListing set_keys(const Experiment& experiment) {
  const ConfigListing defaults = list_config(Experiment());
  ConfigListing set = list_config(experiment);
  std::erase_if(
      set, [&](const ConfigEntry& entry) { return entry.value == value_of(defaults, entry.key); });
  return set;
}

void check_playable(const Experiment& experiment) {
  check_keys(experiment.data.kind->is_task(), {"data.kind"},
             "data.kind = \"{}\" reads files, which a page cannot: choose a generated task",
             experiment.data.kind->name);
  for (const ConfigEntry& entry : set_keys(experiment)) {
    check_keys(entry.type.find("path") == std::string::npos, {entry.key},
               "{}: a page reads no files; remove this key", entry.key);
    for (const auto& [key, most] : playground_limits)
      check_keys(entry.key != key || largest_integer(entry.value) <= most, {entry.key},
                 "{} = {} is too large for a page, which allows at most {}: train it with `heed "
                 "train`",
                 entry.key, entry.value, most);
  }
}

void check_cost(const Model& model, const Experiment& experiment, const Corpus& corpus) {
  const int64_t parameters = model.parameter_count();
  check_keys(parameters <= max_parameters, {"model.dim", "model.layers"},
             "the model has {} parameters, too many for a page, which allows {}: reduce model.dim "
             "or model.layers",
             parameters, max_parameters);
  const auto positions = static_cast<double>(std::max(corpus.longest_source, corpus.longest_input));
  const double multiplications =
      3.0 * static_cast<double>(parameters) * positions *
      static_cast<double>(experiment.train.batch_size * experiment.train.accumulate);
  check_keys(multiplications <= max_multiplications,
             {"train.batch_size", "model.dim", "data.lengths"},
             "a step takes about {:.0e} multiplications, too many for a page, which allows {:.0e}: "
             "reduce train.batch_size, model.dim or data.lengths",
             multiplications, max_multiplications);
}

const Dataset& split_to_show(const Corpus& corpus) {
  for (const char* name : {"val", "test"})
    if (const auto found = corpus.splits.find(name); found != corpus.splits.end())
      return found->second;
  return corpus.splits.at("train");
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
      .set("rows", map.queries)
      .set("columns", map.keys)
      .set("scale", scale)
      .set("signed", std::any_of(values.begin(), values.end(), [](real w) { return w < 0; }))
      .set("weights", std::move(weights));
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
                             return load_corpus(e.data, e.framing(), static_cast<uint64_t>(e.seed));
                           })),
      trainer_(
          with_origins(settings_.origins, [&] { return Trainer(settings_.experiment, corpus_); })) {
  with_origins(settings_.origins,
               [&] { check_cost(trainer_.model(), settings_.experiment, corpus_); });
}

Json PlaygroundSession::summary() const {
  const Experiment& experiment = settings_.experiment;
  const ConfigListing set = set_keys(experiment);
  Json values = Json::object(), parameters = Json::array();
  for (const ConfigEntry& entry : set) values.set(entry.key, entry.value);
  for (const NamedParameter& p : trainer_.model().parameters()) {
    Json shape = Json::array();
    for (int axis = 0; axis < p.tensor.rank(); ++axis) shape.push(p.tensor.dim(axis));
    parameters.push(Json::object().set("name", p.name).set("shape", std::move(shape)));
  }
  Json tokens = Json::array();
  if (const TextCodec* codec = corpus_.source ? corpus_.source.get() : corpus_.target.get())
    for (int32_t id = 0; id < codec->vocabulary().size(); ++id)
      tokens.push(token_label(*codec, id));
  return Json::object()
      .set("config", config_text(set))
      .set("values", std::move(values))
      .set("steps", experiment.train.steps)
      .set("parameter_count", trainer_.model().parameter_count())
      .set("parameters", std::move(parameters))
      .set("tokens", std::move(tokens))
      .set("reads_text", corpus_.format.features == 0);
}

const Dataset& PlaygroundSession::shown_split() const { return split_to_show(corpus_); }

Json PlaygroundSession::scores() {
  ScopeGuard here;
  evaluate_at(steps_done());
  const AveragedWeights averaged(trainer_);
  const Measured scores = evaluate(trainer_.model(), shown_split(), corpus_.framing,
                                   settings_.experiment.train.batch_size);
  return Json::object()
      .set("loss", scores.loss)
      .set("token_accuracy", scores.token_accuracy)
      .set("exact_match", scores.exact_match);
}

Json PlaygroundSession::predictions(int64_t count) {
  ScopeGuard here;
  evaluate_at(steps_done());
  Json list = Json::array();
  for (const Prediction& p : heed::predictions(trainer_.model(), corpus_, shown_split(), count,
                                               learned_positions(settings_.experiment.model)))
    list.push(Json::object()
                  .set("source", p.source)
                  .set("predicted", p.predicted)
                  .set("expected", p.expected));
  return list;
}

Json PlaygroundSession::attention(const std::string& text) {
  ScopeGuard here;
  evaluate_at(steps_done());
  ExampleRequest request;
  if (text.empty())
    request.example = 0;
  else
    request.input = text;
  const Model& model = trainer_.model();
  request.split = corpus_.splits.contains("val") ? "val" : "test";
  const AttendedExample example = attended_example(request, settings_.experiment, corpus_, model);
  Json maps = Json::array();
  for (const AttentionMap& map :
       attention_maps(record_attention(model, example.inputs), example.labels))
    maps.push(map_json(map));
  return Json::object()
      .set("source", example.source)
      .set("target", example.target)
      .set("maps", std::move(maps));
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
                  .set("value", entry.value)
                  .set("allowed", entry.allowed)
                  .set("help", entry.help));
  return keys;
}

}  // namespace heed
