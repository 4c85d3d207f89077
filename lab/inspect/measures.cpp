#include "lab/inspect/measures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/inspect/ablate.h"
#include "lab/inspect/heads.h"
#include "lab/inspect/lens.h"

namespace heed {
namespace {

// A row of metrics.jsonl has the composition of at most this many pairs of heads.
constexpr int64_t most_pairs = 256;

// Values by their paths, such as "1.0.induction".
using Values = std::vector<std::pair<std::string, double>>;

// {"1.0.induction": 0.5} → {"1": {"0": {"induction": 0.5}}}, in the order of the values.
Json nested(const Values& values) {
  Json object = Json::object();
  for (const auto& [path, value] : values) {
    const std::string name = path.substr(0, path.find('.'));
    if (object.find(name)) continue;
    if (name.size() == path.size()) {
      object.set(name, value);
      continue;
    }
    Values inside;
    for (const auto& [other, number] : values)
      if (other.starts_with(name + ".")) inside.emplace_back(other.substr(name.size() + 1), number);
    object.set(name, nested(inside));
  }
  return object;
}

void add(Values& values, const std::string& path, const Json& value) {
  if (value.is_number() && std::isfinite(value.number())) values.emplace_back(path, value.number());
}

// "decoder.layers.1.attention.head.0" → "1.0", "decoder.layers.1.feed_forward" → "1.feed_forward",
// with the stack in front for an encoder-decoder; "embedding.position.3" → "position.3"; "pool" →
// "pool".
std::string place_of(std::string name, const ModelOptions& options) {
  if (const size_t position = name.find("position."); position != name.npos)
    return name.substr(position);
  const std::string stack = name.substr(0, name.find('.'));
  const size_t head = name.find(".head.");
  const bool crosses = name.find(".cross_attention.head.") != name.npos;
  if (head != name.npos) {
    const size_t sublayer = name.rfind('.', head - 1);
    name.erase(sublayer, head + std::string(".head").size() - sublayer);
  }
  const std::string layers = stack + ".layers.";
  if (!name.starts_with(layers)) return name;
  const std::string in_front = options.kind != ModelKind::seq2seq ? ""
                               : crosses                          ? "cross."
                                                                  : stack + ".";
  return in_front + name.substr(layers.size());
}

Inspected inspected_of(const Model& model, const Experiment& experiment, const Corpus& corpus,
                       const Dataset& examples) {
  return {model, experiment.model, corpus, examples, experiment.train.evaluation_batch()};
}

Json heads_numbers(const Model& model, const Experiment& experiment, const Corpus& corpus,
                   const Dataset& examples) {
  const Json scores = head_scores(inspected_of(model, experiment, corpus, examples));
  Values largest, all;
  const auto include = [&](const std::string& path, const Json& value) {
    if (!value.is_number()) return;
    const auto known = std::ranges::find(largest, path, &Values::value_type::first);
    if (known == largest.end())
      add(largest, path, value);
    else
      known->second = std::max(known->second, value.number());
  };
  for (const Json& head : scores.at("heads").elements()) {
    const std::string place =
        place_of(fmt::format("{}.head.{}", head.at("module").string(), head.at("head").integer()),
                 experiment.model);
    for (const auto& [name, value] : head.members()) {
      if (name == "layer" || name == "head" || name == "module") continue;
      add(all, place + "." + name, value);
      include(name, value);
    }
  }
  const std::vector<Json>& pairs = scores.at("composition").elements();
  for (const Json& pair : pairs) {
    const std::vector<Json>&from = pair.at("from").elements(), &to = pair.at("to").elements();
    const bool has_stacks = experiment.model.kind == ModelKind::seq2seq;
    const std::string path =
        fmt::format("{}{}.{}.{}.{}.", has_stacks ? pair.at("stack").string() + "." : "",
                    from[0].integer(), from[1].integer(), to[0].integer(), to[1].integer());
    for (const char* kind : {"q", "k", "v"}) {
      const std::string name = std::string(kind) + "_composition";
      include(name, pair.at(kind));
      if (std::ssize(pairs) <= most_pairs) add(all, path + name, pair.at(kind));
    }
  }
  for (const char* name : {"induction_loss", "in_context_score"})
    add(largest, name, scores.at(name));
  largest.insert(largest.end(), all.begin(), all.end());
  return nested(largest);
}

Json ablate_numbers(const Model& model, const Experiment& experiment, const Corpus& corpus,
                    const Dataset& examples) {
  const Inspected inspected = inspected_of(model, experiment, corpus, examples);
  const Json ablation = ablate(inspected, AblateWith::mean);
  Values values;
  for (const char* name : {"loss", "accuracy"}) add(values, name, ablation.at("baseline").at(name));
  double largest = -INFINITY;
  for (const Json& part : ablation.at("parts").elements())
    if (part.at("part").string().find(".head.") != std::string::npos)
      largest = std::max(largest, part.at("delta").number());
  add(values, "delta", largest);
  for (const Json& part : ablation.at("parts").elements())
    for (const char* name : {"delta", "accuracy_delta"})
      add(values, place_of(part.at("part").string(), experiment.model) + "." + name, part.at(name));
  return nested(values);
}

Json lens_numbers(const Model& model, const Experiment& experiment, const Corpus& corpus,
                  const Dataset& examples) {
  const Json all = lens(inspected_of(model, experiment, corpus, examples));
  Values values;
  for (const Json& row : all.at("layers").elements()) {
    const Json& layer = row.at("layer");
    const std::string place = layer.is_null() ? "embedding" : std::to_string(layer.integer());
    for (const char* name : {"loss", "accuracy", "entropy", "kl"})
      add(values, place + "." + name, row.at(name));
  }
  return nested(values);
}

constexpr MeasuredNumber heads_kinds[] = {
    {.name = "previous", .maximum = 1},
    {.name = "duplicate", .maximum = 1},
    {.name = "induction", .maximum = 1},
    {.name = "prefix_matching", .maximum = 1},
    {.name = "first", .maximum = 1},
    {.name = "copying"},
    {.name = "q_composition"},
    {.name = "k_composition"},
    {.name = "v_composition"},
    {.name = "entropy", .lower_is_better = true},
    {.name = "distance", .lower_is_better = true},
    {.name = "induction_loss", .lower_is_better = true, .by_ratio = true},
    {.name = "in_context_score", .lower_is_better = true}};
constexpr MeasuredNumber ablate_kinds[] = {{.name = "accuracy", .maximum = 1},
                                           {.name = "delta"},
                                           {.name = "accuracy_delta", .lower_is_better = true}};
constexpr MeasuredNumber lens_kinds[] = {{.name = "accuracy", .maximum = 1},
                                         {.name = "entropy", .lower_is_better = true},
                                         {.name = "kl", .lower_is_better = true}};

constexpr Measure heads_measure{"heads", heads_kinds, heads_numbers},
    ablate_measure{"ablate", ablate_kinds, ablate_numbers},
    lens_measure{"lens", lens_kinds, lens_numbers};
constexpr const Measure* measures[] = {&heads_measure, &ablate_measure, &lens_measure};

}  // namespace

constinit const Measures inspect_measures = measures;

}  // namespace heed
