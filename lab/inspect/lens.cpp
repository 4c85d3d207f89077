#include "lab/inspect/lens.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/inference/evaluation.h"
#include "core/inference_scope.h"
#include "core/ops.h"

namespace heed {

// Sums of entropies and divergences over the targets of a batch.
static void add_entropies(const Tensor& logits, const Tensor& last, const Ids& target,
                          double& entropy, double& kl) {
  const Tensor log_p = log_softmax(logits), log_last = log_softmax(last);
  const int64_t classes = logits.dim(-1);
  for (int64_t i = 0; i < target.size(); ++i) {
    if (target[i] == ignored) continue;
    for (int64_t v = 0; v < classes; ++v) {
      const double p = log_p.data()[i * classes + v], q = log_last.data()[i * classes + v];
      if (std::isfinite(p)) entropy -= std::exp(p) * p;
      if (std::isfinite(q)) kl += std::exp(q) * (q - p);
    }
  }
}

// Returns the most likely tokens and the loss of `logits` at target `at` of a batch, and the
// divergence from the prediction of the model, whose logits are `last`.
static Lens::Prediction prediction_at(const Inspected& inspected, const Tensor& logits,
                                      const Tensor& last, const Batch& batch, int64_t at) {
  const int64_t classes = logits.dim(-1);
  const Tensor log_p = log_softmax(logits), log_last = log_softmax(last);
  const real* const from = log_p.data() + at * classes;
  double kl = 0;
  for (int64_t v = 0; v < classes; ++v) {
    const double q = log_last.data()[at * classes + v];
    if (std::isfinite(q)) kl += std::exp(q) * (q - from[v]);
  }
  std::vector<int64_t> order(static_cast<size_t>(classes));
  for (int64_t v = 0; v < classes; ++v) order[static_cast<size_t>(v)] = v;
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return from[a] > from[b]; });
  order.resize(static_cast<size_t>(std::min<int64_t>(5, classes)));
  Lens::Prediction prediction{{}, -static_cast<double>(from[batch.target[at]]), kl};
  for (const int64_t v : order)
    prediction.top.push_back(
        {.token = inspected.token(v), .probability = std::exp(static_cast<double>(from[v]))});
  return prediction;
}

Lens lens(const Inspected& inspected, int64_t example) {
  const InferenceScope here;
  inspected.check_names("lens", true);
  const std::string no_sum = why_no_sum(inspected.options);
  check_input(no_sum.empty(), "lens: {}, so an earlier one is not what the head reads", no_sum);
  std::vector<Sublayer> stack = sublayers_of(inspected);
  check_input(!stack.empty(), "lens: this model has no layers");
  const std::string predicting = predicting_stack(inspected.options);
  std::erase_if(stack, [&](const Sublayer& s) { return !s.name.starts_with(predicting); });
  // Stage 0 is the embedding, stage i the stream after sublayer i - 1.
  const size_t stages = stack.size() + 1;
  const auto ends_layer = [&](size_t stage) {
    return stage == 0 || stage == stack.size() || stack[stage].layer != stack[stage - 1].layer;
  };
  std::vector<ExampleLosses> losses(stages);
  std::vector<double> entropy(stages), kl(stages);
  std::vector<Lens::Prediction> predicted(stages);
  Lens result;
  double targets = 0;
  int64_t first = 0;
  for (const Batch& batch : inspected.batches) {
    const int64_t row = example - first;
    const bool has_example = row >= 0 && row < batch.target.dim(0);
    const int64_t at = has_example ? last_target(batch, row) : -1;
    std::vector<Tensor> streams(stages);
    Tensor last;
    {
      const NamedTap tap(
          inspected,
          [&](const std::string& layer, Site site) {
            return site == Site::embedded ? layer == "embedding" : site == Site::stream;
          },
          [&](const std::string& layer, Site site, const Tensor& value) {
            // The decoder's embedding is the last one that is computed.
            if (site == Site::embedded) streams[0] = value;
            for (size_t i = 1; i < stages; ++i)
              if (site == Site::stream && stack[i - 1].norm == layer) streams[i] = value;
            return Tensor();
          });
      last = inspected.model.logits(batch);
    }
    for (size_t stage = 0; stage < stages; ++stage) {
      if (!ends_layer(stage) && at < 0) continue;
      const Tensor logits = logits_after(inspected, streams[stage], batch);
      if (at >= 0) predicted[stage] = prediction_at(inspected, logits, last, batch, at);
      if (!ends_layer(stage)) continue;
      losses[stage].add(logits, batch);
      add_entropies(logits, last, batch.target, entropy[stage], kl[stage]);
    }
    if (at >= 0) {
      result.target = inspected.token(batch.target[at]);
      if (inspected.options.kind != ModelKind::classifier)
        result.position = at % batch.target.dim(1);
    }
    first += batch.target.dim(0);
    targets += static_cast<double>(batch.targets);
  }
  for (size_t stage = 0; stage < stages; ++stage) {
    if (result.target)
      result.stages.push_back({stage == 0 ? "embedding" : stack[stage - 1].name, predicted[stage]});
    if (!ends_layer(stage)) continue;
    result.layers.push_back({stage == 0 ? std::nullopt : std::optional(stack[stage - 1].index),
                             losses[stage].mean_loss(), losses[stage].accuracy(),
                             entropy[stage] / std::max(1.0, targets),
                             kl[stage] / std::max(1.0, targets), predicted[stage].top});
  }
  return result;
}

Json Lens::json() const {
  const auto token_json = [](const PredictedToken& each) {
    return Json::object().set("token", each.token).set("probability", each.probability);
  };
  const auto layer_json = [&](const Layer& layer) {
    return Json::object()
        .set("layer", layer.index)
        .set("loss", layer.loss)
        .set("accuracy", layer.accuracy)
        .set("entropy", layer.entropy)
        .set("kl", layer.kl)
        .set("top", Json::list(layer.top, token_json));
  };
  const auto stage_json = [&](const Stage& stage) {
    return Json::object()
        .set("stage", stage.name)
        .set("top", Json::list(stage.prediction.top, token_json))
        .set("loss", stage.prediction.loss)
        .set("kl", stage.prediction.kl);
  };
  return Json::object()
      .set("layers", Json::list(layers, layer_json))
      .set("stages", Json::list(stages, stage_json))
      .set("target", target)
      .set("position", position);
}

Table Lens::table() const {
  Table table;
  table.rows.push_back({"after", "loss", "accuracy", "entropy", "KL", "most likely tokens"});
  for (const Layer& each : layers)
    table.rows.push_back({each.index ? fmt::format("layer {}", *each.index + 1) : "embedding",
                          fmt::format("{:.4f}", each.loss), fmt::format("{:.4f}", each.accuracy),
                          fmt::format("{:.4f}", each.entropy), fmt::format("{:.4f}", each.kl),
                          tokens_text(each.top, &PredictedToken::probability, 50)});
  return table;
}

}  // namespace heed
