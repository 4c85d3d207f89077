#include "apps/training/step_statistics.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <unordered_map>

#include "apps/inference/evaluation.h"
#include "apps/support/names.h"
#include "apps/support/numbers.h"
#include "core/inference_scope.h"
#include "core/observer.h"
#include "data/first_examples.h"
#include "nn/module.h"
#include "nn/recorder.h"

namespace heed {
namespace {

constexpr int64_t max_read_examples = 16;
constexpr int64_t max_head_positions = 1024;  // 4 MiB of weights per head
constexpr real dead_below = 1e-6F;

double norm_of(std::span<const real> values) {
  double squares = 0;
  for (const double value : values) squares += value * value;
  return std::sqrt(squares);
}

double norm_of_change(std::span<const real> now, std::span<const real> before) {
  double squares = 0;
  for (size_t i = 0; i < now.size(); ++i) {
    const double change = double{now[i]} - double{before[i]};
    squares += change * change;
  }
  return std::sqrt(squares);
}

// Which positions of a layer's output (B, T, …) are no padding. Of two sources all count.
class RealPositions {
 public:
  RealPositions(const std::string& layer, const Batch& batch) {
    const bool of_source = batch.source_lengths && layer.starts_with("encoder.");
    lengths_ = of_source ? batch.source_lengths : batch.input_lengths;
    const Ids& tokens = of_source ? batch.source : batch.input;
    // With features in place of tokens, (B, T, F), T is theirs.
    time_ = tokens ? tokens.dim(1) : batch.features.dim(1);
    if (batch.source && batch.features) time_ = 0;
  }
  // Calls f(first element, end) for the row of each real position. Outputs of another form, such as
  // lines of a grid, have no padding.
  template <class F>
  void for_each_row(const Tensor& y, F&& f) const {
    const int64_t width = y.dim(-1), rows = y.size() / width;
    const bool padded =
        time_ > 0 && y.rank() == 3 && y.dim(0) == lengths_.dim(0) && y.dim(1) == time_;
    for (int64_t row = 0; row < rows; ++row)
      if (!padded || row % time_ < lengths_[row / time_])
        f(y.values().subspan(static_cast<size_t>(row * width), static_cast<size_t>(width)));
  }

 private:
  Ids lengths_;
  int64_t time_ = 0;
};

double rms_of(const Tensor& y, const RealPositions& positions) {
  double squares = 0, count = 0;
  positions.for_each_row(y, [&](std::span<const real> row) {
    for (const double value : row) squares += value * value;
    count += static_cast<double>(row.size());
  });
  return std::sqrt(squares / std::max(count, 1.0));
}

double dead_share_of(const Tensor& hidden, const RealPositions& positions) {
  std::vector<real> maxima(static_cast<size_t>(hidden.dim(-1)));
  positions.for_each_row(hidden, [&](std::span<const real> row) {
    for (size_t i = 0; i < row.size(); ++i) maxima[i] = std::max(maxima[i], std::abs(row[i]));
  });
  const auto dead =
      std::ranges::count_if(maxima, [](real maximum) { return maximum <= dead_below; });
  return static_cast<double>(dead) / static_cast<double>(maxima.size());
}

// Keeps the last output of each layer, and the hidden activations of position-wise networks: what
// their matrix "down" reads.
class LayerObserver final : public Observer {
 public:
  struct Layer {
    std::string name;
    Tensor output, hidden;
  };

  explicit LayerObserver(const Model& model) {
    std::map<std::string, size_t> index;
    for (const auto& [module, name] : model.part_names()) {
      if (name.empty()) continue;
      const std::string layer = layer_of(name);
      const auto [found, is_new] = index.try_emplace(layer, layers_.size());
      if (is_new) layers_.push_back({layer, {}, {}});
      parts_[module] = {found->second, name.ends_with(".feed_forward.down")};
    }
  }
  // Sorted by name, without those that computed nothing.
  std::vector<Layer> layers() const {
    std::vector<Layer> done;
    for (const Layer& layer : layers_)
      if (layer.output) done.push_back(layer);
    std::ranges::sort(done, {}, &Layer::name);
    return done;
  }

  void op_finished(const char*, const Tensor& y, std::span<const Tensor> inputs,
                   const Node*) noexcept override {
    const auto part = parts_.find(ModuleScope::current());
    if (part == parts_.end()) return;
    Layer& layer = layers_[part->second.layer];
    layer.output = y;
    if (part->second.reads_hidden && !inputs.empty()) layer.hidden = inputs[0];
  }

 private:
  struct Part {
    size_t layer;
    bool reads_hidden;
  };
  std::vector<Layer> layers_;
  std::unordered_map<const Module*, Part> parts_;
};

// Means over the queries of one head, weights (n, m).
struct HeadMeans {
  double entropy = 0, distance = 0;
};

HeadMeans head_means(std::span<const real> weights, int64_t queries, int64_t keys) {
  HeadMeans means;
  for (int64_t i = 0; i < queries; ++i)
    for (int64_t j = 0; j < keys; ++j) {
      const double p = weights[static_cast<size_t>(i * keys + j)];
      if (p <= 0) continue;
      means.entropy -= p * std::log(p);
      means.distance += p * static_cast<double>(std::abs(i - j));
    }
  means.entropy /= static_cast<double>(queries);
  means.distance /= static_cast<double>(queries);
  return means;
}

// Means over the lines of a record (lines, H, n, m), for each head.
Json json_of(const AttentionRecord& record) {
  const Tensor& weights = record.weights;
  const int64_t lines = weights.dim(0), heads = weights.dim(1);
  const int64_t queries = weights.dim(2), keys = weights.dim(3);
  Json entropy = Json::array(), distance = Json::array();
  for (int64_t head = 0; head < heads; ++head) {
    HeadMeans sum;
    for (int64_t line = 0; line < lines; ++line) {
      const HeadMeans means = head_means(
          weights.values().subspan(static_cast<size_t>((line * heads + head) * queries * keys),
                                   static_cast<size_t>(queries * keys)),
          queries, keys);
      sum.entropy += means.entropy;
      sum.distance += means.distance;
    }
    entropy.push(six_digits(sum.entropy / static_cast<double>(lines)));
    distance.push(six_digits(sum.distance / static_cast<double>(lines)));
  }
  return Json::object().set("entropy", std::move(entropy)).set("distance", std::move(distance));
}

int64_t positions_of(const Batch& batch) {
  int64_t most = 0;
  for (const Ids& ids : {batch.source, batch.input})
    if (ids) most = std::max(most, ids.dim(1));
  return batch.features ? std::max(most, batch.features.dim(1)) : most;
}

// The first examples of the split that shows what training does.
Batch first_examples(const Experiment& experiment, const Corpus& corpus, int64_t count) {
  const Dataset& dataset = measured_split(corpus);
  Batch batch;
  Batches::in_order(dataset, experiment.model.kind, std::min(count, dataset.size)).get(0, batch);
  return batch;
}

}  // namespace

Json layer_statistics(const Model& model, const Batch& batch) {
  LayerObserver observer(model);
  {
    const ObserverScope here(observer);
    model.head_input(batch);
  }
  Json layers = Json::object();
  for (const LayerObserver::Layer& layer : observer.layers()) {
    const RealPositions positions(layer.name, batch);
    Json json = Json::object().set("rms", six_digits(rms_of(layer.output, positions)));
    if (layer.hidden) json.set("dead", six_digits(dead_share_of(layer.hidden, positions)));
    layers.set(layer.name, std::move(json));
  }
  return layers;
}

Json head_statistics(const Model& model, const Batch& example) {
  Recorder recorder;
  model.head_input(example);
  Json heads = Json::object();
  for (const AttentionRecord& record : recorder.records(model))
    heads.set(record.name, json_of(record));
  return heads;
}

StepStatistics::StepStatistics(const Experiment& experiment, const Corpus& corpus,
                               const Trainer& trainer)
    : experiment_(experiment),
      trainer_(trainer),
      parameters_(trainer.model().parameters()),
      examples_(first_examples(experiment, corpus, max_read_examples)),
      example_(first_examples(experiment, corpus, 1)),
      before_(parameters_.size()) {}

void StepStatistics::before_step() {
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const Tensor& weights = parameters_[i].tensor;
    if (weights.requires_grad()) before_[i].assign(weights.data(), weights.data() + weights.size());
  }
}

Json StepStatistics::parameters(double gradient_scale) const {
  Json all = Json::object();
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const Tensor& weights = parameters_[i].tensor;
    Json json = Json::object().set("weight", six_digits(norm_of(weights.values())));
    if (const Tensor gradient = weights.requires_grad() ? weights.grad() : Tensor())
      json.set("gradient", six_digits(gradient_scale * norm_of(gradient.values())))
          .set("update", six_digits(norm_of_change(weights.values(), before_[i])));
    all.set(parameters_[i].name, std::move(json));
  }
  return all;
}

Json StepStatistics::measure(const StepReport& report) const {
  const InferenceScope here;
  here->precision = experiment_.precision;
  here->step = static_cast<uint32_t>(trainer_.steps_done());
  const Model& model = trainer_.model();
  Json json = Json::object()
                  .set("parameters", parameters(report.gradient_scale))
                  .set("layers", layer_statistics(model, examples_));
  if (positions_of(example_) <= max_head_positions)
    json.set("heads", head_statistics(model, example_));
  return json;
}

}  // namespace heed
