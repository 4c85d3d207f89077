#include "lab/inspect/lens.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/inference/evaluation.h"
#include "core/ops.h"
#include "core/scope.h"

namespace heed {
namespace {

// Sums of entropies and divergences over the targets of a batch.
void add_entropies(const Tensor& logits, const Tensor& last, const Ids& target, double& entropy,
                   double& kl) {
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
Json prediction_at(const Inspected& inspected, const Tensor& logits, const Tensor& last,
                   const Batch& batch, int64_t at) {
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
  Json tokens = Json::array();
  for (const int64_t v : order)
    tokens.push(Json::object()
                    .set("token", inspected.token(v))
                    .set("probability", std::exp(static_cast<double>(from[v]))));
  return Json::object()
      .set("top", std::move(tokens))
      .set("loss", -static_cast<double>(from[batch.target[at]]))
      .set("kl", kl);
}

}  // namespace

Json lens(const Inspected& inspected, int64_t example) {
  ScopeGuard here;
  here->gradients = here->training = false;
  check_input(inspected.options.norm_first,
              "lens: this model has model.norm_first = false; its stream is normalised after every "
              "sublayer, so an earlier one is not what the head reads");
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
  std::vector<Json> predicted(stages);
  Json target, position;
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
      target = inspected.token(batch.target[at]);
      if (inspected.options.kind != ModelKind::classifier) position = at % batch.target.dim(1);
    }
    first += batch.target.dim(0);
    targets += static_cast<double>(batch.targets);
  }
  Json layers = Json::array(), rows = Json::array();
  for (size_t stage = 0; stage < stages; ++stage) {
    const bool is_known = predicted[stage].is_object();
    if (is_known)
      rows.push(Json::object()
                    .set("stage", stage == 0 ? "embedding" : stack[stage - 1].name)
                    .set("top", predicted[stage].at("top"))
                    .set("loss", predicted[stage].at("loss"))
                    .set("kl", predicted[stage].at("kl")));
    if (!ends_layer(stage)) continue;
    layers.push(Json::object()
                    .set("layer", stage == 0 ? Json() : Json(stack[stage - 1].index))
                    .set("loss", losses[stage].mean_loss())
                    .set("accuracy", losses[stage].accuracy())
                    .set("entropy", entropy[stage] / std::max(1.0, targets))
                    .set("kl", kl[stage] / std::max(1.0, targets))
                    .set("top", is_known ? predicted[stage].at("top") : Json::array()));
  }
  return Json::object()
      .set("layers", std::move(layers))
      .set("stages", std::move(rows))
      .set("target", std::move(target))
      .set("position", std::move(position));
}

Table lens_table(const Json& lens) {
  Table table;
  table.rows.push_back({"after", "loss", "accuracy", "entropy", "KL", "most likely tokens"});
  for (const Json& row : lens.at("layers").elements()) {
    const Json& layer = row.at("layer");
    table.rows.push_back(
        {layer.is_null() ? "embedding" : fmt::format("layer {}", layer.integer() + 1),
         fmt::format("{:.4f}", row.at("loss").number()),
         fmt::format("{:.4f}", row.at("accuracy").number()),
         fmt::format("{:.4f}", row.at("entropy").number()),
         fmt::format("{:.4f}", row.at("kl").number()),
         tokens_text(row.at("top"), "probability", 50)});
  }
  return table;
}

}  // namespace heed
