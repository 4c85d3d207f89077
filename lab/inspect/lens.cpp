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

// The three most likely tokens at the last target of row `row`.
Json top_tokens(const Inspected& inspected, const Tensor& logits, const Batch& batch, int64_t row) {
  const int64_t time = batch.target.size() / batch.target.dim(0), classes = logits.dim(-1);
  int64_t at = -1;
  for (int64_t i = row * time; i < (row + 1) * time; ++i)
    if (batch.target[i] != ignored) at = i;
  Json tokens = Json::array();
  if (at < 0) return tokens;
  const Tensor p = softmax(logits);
  const real* const from = p.data() + at * classes;
  std::vector<int64_t> order(static_cast<size_t>(classes));
  for (int64_t v = 0; v < classes; ++v) order[static_cast<size_t>(v)] = v;
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return from[a] > from[b]; });
  order.resize(static_cast<size_t>(std::min<int64_t>(3, classes)));
  for (const int64_t v : order)
    tokens.push(Json::object()
                    .set("token", inspected.token(v))
                    .set("probability", static_cast<double>(from[v])));
  return tokens;
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
  std::vector<std::string> ends;  // the norm of the last sublayer of each layer
  for (const Sublayer& s : stack) {
    if (ends.empty() || ends.back().substr(0, ends.back().rfind('.')) != s.layer)
      ends.push_back(s.norm);
    else
      ends.back() = s.norm;
  }

  const size_t depths = ends.size() + 1;
  std::vector<ExampleLosses> losses(depths);
  std::vector<double> entropy(depths), kl(depths);
  std::vector<Json> top(depths, Json::array());
  double targets = 0;
  int64_t first = 0;
  for (const Batch& batch : inspected.batches) {
    const Inputs inputs = inputs_of(batch);
    std::vector<Tensor> streams(depths);
    Tensor last;
    {
      const NamedTap tap(
          inspected,
          [&](const std::string& layer, Site site) {
            return site == Site::embedded
                       ? layer == "embedding"
                       : site == Site::stream && std::count(ends.begin(), ends.end(), layer);
          },
          [&](const std::string& layer, Site site, const Tensor& value) {
            // The decoder's embedding is the last one that is computed.
            if (site == Site::embedded) streams[0] = value;
            for (size_t i = 0; i < ends.size(); ++i)
              if (site == Site::stream && ends[i] == layer) streams[i + 1] = value;
            return Tensor();
          });
      last = inspected.model.logits(inputs);
    }
    for (size_t depth = 0; depth < depths; ++depth) {
      const Tensor logits = logits_after(inspected, streams[depth], batch);
      losses[depth].add(logits, batch);
      add_entropies(logits, last, batch.target, entropy[depth], kl[depth]);
      const int64_t row = example - first;
      if (row >= 0 && row < batch.target.dim(0))
        top[depth] = top_tokens(inspected, logits, batch, row);
    }
    first += batch.target.dim(0);
    targets += static_cast<double>(batch.targets);
  }
  Json layers = Json::array();
  for (size_t depth = 0; depth < depths; ++depth)
    layers.push(Json::object()
                    .set("layer", depth == 0 ? Json() : Json(static_cast<int64_t>(depth - 1)))
                    .set("loss", losses[depth].mean_loss())
                    .set("accuracy", losses[depth].accuracy())
                    .set("entropy", entropy[depth] / std::max(1.0, targets))
                    .set("kl", kl[depth] / std::max(1.0, targets))
                    .set("top", std::move(top[depth])));
  return Json::object().set("layers", std::move(layers));
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
