#include "lab/inspect/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/inference/attention_map.h"
#include "apps/inference/evaluation.h"
#include "core/scope.h"

namespace heed {
namespace {

// What is known of a stage, for one example.
struct Stage {
  std::string name;
  int64_t length = 0;  // positions
  Tensor stream = {}, written = {}, hidden = {};
};

// Calls f with the vector at each position of row `row` of x (B, T, D).
template <class F>
Json at_positions(const Tensor& x, int64_t row, int64_t length, F&& f) {
  if (!x) return {};
  const int64_t width = x.dim(2);
  Json list = Json::array();
  for (int64_t t = 0; t < std::min(length, x.dim(1)); ++t)
    list.push(f(std::span(x.data() + (row * x.dim(1) + t) * width, static_cast<size_t>(width))));
  return list;
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

// ln Σ exp z
double log_sum_exp(std::span<const real> z) {
  const double most = *std::ranges::max_element(z);
  double sum = 0;
  for (const real each : z) sum += std::exp(each - most);
  return most + std::log(sum);
}

Json largest(const Inspected& inspected, std::span<const real> logits, size_t count) {
  std::vector<int64_t> order(logits.size());
  for (size_t v = 0; v < order.size(); ++v) order[v] = static_cast<int64_t>(v);
  const auto end = order.begin() + static_cast<ptrdiff_t>(std::min(count, order.size()));
  std::partial_sort(order.begin(), end, order.end(), [&](int64_t a, int64_t b) {
    const real x = logits[static_cast<size_t>(a)], y = logits[static_cast<size_t>(b)];
    return x != y ? x > y : a < b;
  });
  const double all = log_sum_exp(logits);
  Json tokens = Json::array();
  for (auto v = order.begin(); v != end; ++v) {
    const auto logit = static_cast<double>(logits[static_cast<size_t>(*v)]);
    tokens.push(Json::object()
                    .set("token", inspected.token(*v))
                    .set("logit", logit)
                    .set("probability", std::exp(logit - all)));
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
Tensor record(const Inspected& inspected, const ChosenExample& chosen, std::vector<Stage>& stages) {
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

Json trace(const Inspected& inspected, int64_t example, size_t count) {
  ScopeGuard here;
  here->gradients = here->training = false;
  const ChosenExample chosen = find_example(inspected, example);
  const Batch& batch = *chosen.batch;
  std::vector<Stage> recorded;
  const Tensor logits = record(inspected, chosen, recorded);
  const bool is_classifier = inspected.options.kind == ModelKind::classifier;
  const bool ends_anywhere = inspected.options.norm_first && !is_classifier;
  const std::string predicting = predicting_stack(inspected.options);
  Json stages = Json::array();
  for (const Stage& stage : recorded) {
    const bool predicts = stage.name == "embedding" || stage.name.starts_with(predicting + ".");
    const Tensor there =
        ends_anywhere && predicts ? logits_after(inspected, stage.stream, batch) : Tensor();
    stages.push(Json::object()
                    .set("stage", stage.name)
                    .set("norm", at_positions(stage.stream, chosen.row, stage.length, norm_of))
                    .set("written", at_positions(stage.written, chosen.row, stage.length, norm_of))
                    .set("active", at_positions(stage.hidden, chosen.row, stage.length, active_of))
                    .set("logits", at_positions(there, chosen.row, stage.length,
                                                [&](auto x) { return largest(inspected, x, 3); })));
  }
  const int64_t inputs = batch.input_lengths[chosen.row];
  const int64_t classes = logits.dim(-1);
  // The positions with logits: one of a classifier.
  const int64_t first = chosen.row * (is_classifier ? 1 : logits.dim(1));
  Json of_model = Json::array(), losses = Json::array();
  for (int64_t i = first; i < first + (is_classifier ? 1 : inputs); ++i) {
    const std::span z(logits.data() + i * classes, static_cast<size_t>(classes));
    const int32_t target = batch.target[i];
    of_model.push(largest(inspected, z, count));
    losses.push(target == ignored ? Json() : Json(log_sum_exp(z) - z[static_cast<size_t>(target)]));
  }
  Json targets = Json::array();
  if (is_classifier)
    targets.push(inspected.token(batch.target[chosen.row]));
  else
    targets = tokens_of(batch.target, inspected.corpus.target, chosen.row, inputs);
  return Json::object()
      .set("example", example)
      .set("source", batch.source_lengths ? tokens_of(batch.source, inspected.corpus.source,
                                                      chosen.row, batch.source_lengths[chosen.row])
                                          : Json())
      .set("inputs",
           tokens_of(batch.input, is_classifier ? inspected.corpus.source : inspected.corpus.target,
                     chosen.row, inputs))
      .set("targets", std::move(targets))
      .set("stages", std::move(stages))
      .set("logits", is_classifier ? of_model.elements()[0] : std::move(of_model))
      .set("losses", std::move(losses));
}

Table trace_table(const Json& trace) {
  const std::vector<Json>& targets = trace.at("targets").elements();
  size_t last = targets.size();  // the last target
  for (size_t t = 0; t < targets.size(); ++t)
    if (!targets[t].is_null()) last = t;
  Table table;
  table.rows.push_back({"stage", "norm", "written", "active", "largest logits"});
  for (const Json& stage : trace.at("stages").elements()) {
    const std::vector<Json>& norms = stage.at("norm").elements();
    const bool predicts = !stage.at("logits").is_null();
    const size_t at = predicts ? last : norms.size() - 1;
    const auto number = [&](const char* name) {
      const Json& list = stage.at(name);
      return list.is_null() ? std::string()
                            : fmt::format("{:.3f}", list.elements().at(at).number());
    };
    const std::string top =
        predicts ? tokens_text(stage.at("logits").elements().at(at), "logit", 36) : "";
    table.rows.push_back(
        {stage.at("stage").string(), number("norm"), number("written"), number("active"), top});
  }
  table.notes.push_back(fmt::format("Example {}, at its last target; --json has all positions.",
                                    trace.at("example").integer()));
  return table;
}

}  // namespace heed
