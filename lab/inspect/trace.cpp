#include "lab/inspect/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/inference/attention_map.h"
#include "apps/inference/evaluation.h"
#include "core/inference_scope.h"
#include "nn/search.h"

namespace heed {
namespace {

// What is known of a stage, for one example.
struct Recorded {
  std::string name;
  int64_t length = 0;  // positions
  Tensor stream = {}, written = {}, hidden = {};
};

// Returns f(vector) at each position of row `row` of x (B, T, D); none without x.
template <class F>
auto at_positions(const Tensor& x, int64_t row, int64_t length, F&& f) {
  std::vector<decltype(f(std::span<const real>()))> list;
  if (!x) return std::optional<decltype(list)>();
  const int64_t width = x.dim(2);
  for (int64_t t = 0; t < std::min(length, x.dim(1)); ++t)
    list.push_back(
        f(std::span(x.data() + (row * x.dim(1) + t) * width, static_cast<size_t>(width))));
  return std::optional(list);
}

double norm_of(std::span<const real> x) {
  double sum = 0;
  for (const real value : x) sum += static_cast<double>(value) * value;
  return std::sqrt(sum);
}

double active_of(std::span<const real> x) {
  return static_cast<double>(std::ranges::count_if(x, [](real value) { return value > 0; })) /
         static_cast<double>(x.size());
}

PredictedTokens largest(const Inspected& inspected, std::span<const real> logits, size_t count) {
  std::vector<int64_t> order(logits.size());
  for (size_t v = 0; v < order.size(); ++v) order[v] = static_cast<int64_t>(v);
  const auto end = order.begin() + static_cast<ptrdiff_t>(std::min(count, order.size()));
  std::partial_sort(order.begin(), end, order.end(), [&](int64_t a, int64_t b) {
    const real x = logits[static_cast<size_t>(a)], y = logits[static_cast<size_t>(b)];
    return x != y ? x > y : a < b;
  });
  const double all = log_sum_exp(logits, *std::ranges::max_element(logits));
  PredictedTokens tokens;
  for (auto v = order.begin(); v != end; ++v) {
    const auto logit = static_cast<double>(logits[static_cast<size_t>(*v)]);
    tokens.push_back({inspected.token(*v), logit, std::exp(logit - all)});
  }
  return tokens;
}

// The tokens of row `row`, as the model reads them.
Json tokens_of(const Ids& ids, const std::shared_ptr<const TextCodec>& codec, int64_t row,
               int64_t length) {
  if (!ids) return {};
  Json list = Json::array();
  for (int64_t t = 0; t < std::min(length, ids.dim(1)); ++t) {
    const int32_t id = ids[row * ids.dim(1) + t];
    list.push(id == ignored ? Json() : codec ? Json(token_label(*codec, id)) : Json(int64_t{id}));
  }
  return list;
}

// Computes the model on the batch, and returns its logits.
Tensor record(const Inspected& inspected, const ChosenExample& chosen,
              std::vector<Recorded>& stages) {
  const Batch& batch = *chosen.batch;
  const bool shares =
      inspected.options.kind == ModelKind::seq2seq && inspected.options.share_embeddings;
  Tensor hidden;  // of the feed-forward network that is computed
  const NamedTap tap(
      inspected,
      [](const std::string&, Site site) {
        return site == Site::embedded || site == Site::preactivation || site == Site::sublayer ||
               site == Site::stream;
      },
      [&](const std::string& layer, Site site, const Tensor& value) {
        if (site == Site::preactivation) hidden = value;
        if (site == Site::embedded) {
          // An embedding that both sides share reads the source first.
          const std::string name = shares && stages.empty() ? "source_embedding" : layer;
          stages.push_back({name, inspected.lengths(batch, name)[chosen.row], value});
        }
        if (site == Site::sublayer)
          stages.push_back({layer.substr(0, layer.size() - std::string("_norm").size()),
                            inspected.lengths(batch, layer)[chosen.row],
                            {},
                            value,
                            std::exchange(hidden, Tensor())});
        if (site == Site::stream) stages.back().stream = value;
        return Tensor();
      });
  return inspected.model.logits(batch);
}

}  // namespace

Trace trace(const Inspected& inspected, int64_t example, size_t count) {
  const InferenceScope here;
  inspected.check_names("trace");
  const ChosenExample chosen = find_example(inspected, example);
  const Batch& batch = *chosen.batch;
  std::vector<Recorded> recorded;
  const Tensor logits = record(inspected, chosen, recorded);
  Trace result;
  result.example = example;
  result.is_classifier = inspected.options.kind == ModelKind::classifier;
  const bool ends_anywhere = why_no_sum(inspected.options).empty() && !result.is_classifier;
  const std::string predicting = predicting_stack(inspected.options);
  for (const Recorded& stage : recorded) {
    const bool predicts = stage.name == "embedding" || stage.name.starts_with(predicting + ".");
    const Tensor there =
        ends_anywhere && predicts ? logits_after(inspected, stage.stream, batch) : Tensor();
    const auto of = [&](const Tensor& x, const auto& f) {
      return at_positions(x, chosen.row, stage.length, f);
    };
    result.stages.push_back({stage.name, *of(stage.stream, norm_of), of(stage.written, norm_of),
                             of(stage.hidden, active_of), of(there, [&](std::span<const real> x) {
                               return largest(inspected, x, 3);
                             })});
  }
  const int64_t inputs = batch.input_lengths[chosen.row];
  const int64_t classes = logits.dim(-1);
  // The positions with logits: one of a classifier.
  const int64_t first = chosen.row * (result.is_classifier ? 1 : logits.dim(1));
  for (int64_t i = first; i < first + (result.is_classifier ? 1 : inputs); ++i) {
    const std::span z(logits.data() + i * classes, static_cast<size_t>(classes));
    const int32_t target = batch.target[i];
    result.logits.push_back(largest(inspected, z, count));
    result.losses.push_back(target == ignored
                                ? std::nullopt
                                : std::optional(log_sum_exp(z, *std::ranges::max_element(z)) -
                                                z[static_cast<size_t>(target)]));
  }
  const auto& [source, target] = std::tie(inspected.corpus.source, inspected.corpus.target);
  if (batch.source_lengths)
    result.source = tokens_of(batch.source, source, chosen.row, batch.source_lengths[chosen.row]);
  result.inputs =
      tokens_of(batch.input, result.is_classifier ? source : target, chosen.row, inputs);
  result.targets = result.is_classifier ? Json::array({inspected.token(batch.target[chosen.row])})
                                        : tokens_of(batch.target, target, chosen.row, inputs);
  return result;
}

Json Trace::json() const {
  const auto tokens_json = [](const PredictedTokens& tokens) {
    return Json::list(tokens, [](const PredictedToken& each) {
      return Json::object()
          .set("token", each.token)
          .set("logit", each.logit)
          .set("probability", each.probability);
    });
  };
  const auto stage_json = [&](const Stage& stage) {
    return Json::object()
        .set("stage", stage.name)
        .set("norm", stage.norm)
        .set("written", stage.written)
        .set("active", stage.active)
        .set("logits", stage.logits ? Json::list(*stage.logits, tokens_json) : Json());
  };
  return Json::object()
      .set("example", example)
      .set("source", source)
      .set("inputs", inputs)
      .set("targets", targets)
      .set("stages", Json::list(stages, stage_json))
      .set("logits", is_classifier ? tokens_json(logits[0]) : Json::list(logits, tokens_json))
      .set("losses", losses);
}

Table Trace::table() const {
  size_t last = losses.size();  // the last target
  for (size_t t = 0; t < losses.size(); ++t)
    if (losses[t]) last = t;
  Table table;
  table.rows.push_back({"stage", "norm", "written", "active", "largest logits"});
  for (const Stage& stage : stages) {
    const size_t at = stage.logits ? last : stage.norm.size() - 1;
    const auto number = [&](const std::optional<std::vector<double>>& list) {
      return list ? fmt::format("{:.3f}", list->at(at)) : "";
    };
    table.rows.push_back(
        {stage.name, fmt::format("{:.3f}", stage.norm.at(at)), number(stage.written),
         number(stage.active),
         stage.logits ? tokens_text(stage.logits->at(at), &PredictedToken::logit, 36) : ""});
  }
  table.notes.push_back(
      fmt::format("Example {}, at its last target; --json has all positions.", example));
  return table;
}

}  // namespace heed
