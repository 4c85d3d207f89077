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

void add(NumbersByPath& numbers, const std::string& path, std::optional<double> value) {
  if (value && std::isfinite(*value)) numbers.emplace_back(path, *value);
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

NumbersByPath heads_numbers(const Model& model, const Experiment& experiment, const Corpus& corpus,
                            const Dataset& examples) {
  const HeadScores scores = head_scores(inspected_of(model, experiment, corpus, examples));
  NumbersByPath largest, all;
  const auto include = [&](const std::string& path, std::optional<double> value) {
    if (!value) return;
    const auto known = std::ranges::find(largest, path, &NumbersByPath::value_type::first);
    if (known == largest.end())
      add(largest, path, value);
    else
      known->second = std::max(known->second, *value);
  };
  for (const HeadScores::Head& head : scores.heads)
    head.visit([&, place = place_of(head.name(), experiment.model)](
                   const char* name, const std::optional<double>& value) {
      add(all, place + "." + name, value);
      include(name, value);
    });
  for (const HeadScores::Pair& pair : *scores.composition) {
    const bool has_stacks = experiment.model.kind == ModelKind::seq2seq;
    const std::string path =
        fmt::format("{}{}.{}.{}.{}.", has_stacks ? pair.stack + "." : "", pair.from_layer,
                    pair.from_head, pair.to_layer, pair.to_head);
    for (const auto& [name, value] : {std::pair("q_composition", pair.q),
                                      {"k_composition", pair.k},
                                      {"v_composition", pair.v}}) {
      include(name, value);
      if (std::ssize(*scores.composition) <= most_pairs) add(all, path + name, value);
    }
  }
  add(largest, "induction_loss", scores.induction_loss);
  add(largest, "in_context_score", scores.in_context_score);
  largest.insert(largest.end(), all.begin(), all.end());
  return largest;
}

NumbersByPath ablate_numbers(const Model& model, const Experiment& experiment, const Corpus& corpus,
                             const Dataset& examples) {
  const Inspected inspected = inspected_of(model, experiment, corpus, examples);
  const Ablation ablation = ablate(inspected, AblateWith::mean);
  NumbersByPath numbers;
  add(numbers, "loss", ablation.loss);
  add(numbers, "accuracy", ablation.accuracy);
  double largest = -INFINITY;
  for (const Ablation::Part& part : ablation.parts)
    if (part.name.find(".head.") != std::string::npos) largest = std::max(largest, part.delta.mean);
  add(numbers, "delta", largest);
  for (const Ablation::Part& part : ablation.parts) {
    const std::string place = place_of(part.name, experiment.model);
    add(numbers, place + ".delta", part.delta.mean);
    add(numbers, place + ".accuracy_delta", part.accuracy_delta.mean);
  }
  return numbers;
}

NumbersByPath lens_numbers(const Model& model, const Experiment& experiment, const Corpus& corpus,
                           const Dataset& examples) {
  const Lens all = lens(inspected_of(model, experiment, corpus, examples));
  NumbersByPath numbers;
  for (const Lens::Layer& layer : all.layers) {
    const std::string place = layer.index ? std::to_string(*layer.index) : "embedding";
    add(numbers, place + ".loss", layer.loss);
    add(numbers, place + ".accuracy", layer.accuracy);
    add(numbers, place + ".entropy", layer.entropy);
    add(numbers, place + ".kl", layer.kl);
  }
  return numbers;
}

constexpr Score heads_kinds[] = {
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
constexpr Score ablate_kinds[] = {{.name = "accuracy", .maximum = 1},
                                  {.name = "delta"},
                                  {.name = "accuracy_delta", .lower_is_better = true}};
constexpr Score lens_kinds[] = {{.name = "accuracy", .maximum = 1},
                                {.name = "entropy", .lower_is_better = true},
                                {.name = "kl", .lower_is_better = true}};

constexpr Measure heads_measure{"heads", heads_kinds, heads_numbers},
    ablate_measure{"ablate", ablate_kinds, ablate_numbers},
    lens_measure{"lens", lens_kinds, lens_numbers};
constexpr const Measure* measures[] = {&heads_measure, &ablate_measure, &lens_measure};

}  // namespace

constinit const Measures inspect_measures = measures;

}  // namespace heed
