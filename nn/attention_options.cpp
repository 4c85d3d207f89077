// The keys of [model.attention], and which of them contradict one another.
#include "nn/attention_options.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "core/joined.h"

namespace heed::inline HEED_REAL {

void MultiHeadOptions::fields(Fields& f) {
  static constexpr const char* scales[] = {"inverse_sqrt", "inverse", "none", "value"};
  static constexpr const char* head_widths[] = {"narrow", "wide"};
  static constexpr const char* combines[] = {
      "concat_projection", "concat", "weighted", "tensor", "mean", "max"};
  constexpr Range positive{1e-6, 1e6}, width{0, 1 << 16};
  f.choice("similarity", similarity.kind, similarity_names, "how a query scores a key");
  f.choice("scale", similarity.scale, scales,
           "of scaled_dot: 1/√K, 1/K, 1, or scale_value; K is the width of a head's keys");
  f.number("scale_value", similarity.scale_value, {-1e6, 1e6}, "the scale with scale = \"value\"");
  f.number("sigma", similarity.sigma, positive, "of gaussian: the distance at which it falls off");
  f.choice("normaliser", normaliser, normaliser_names, "how scores become weights");
  f.flag("straight_through", straight_through,
         "of hardmax: backward as if it were the softmax; without, no gradient reaches the scores");
  f.number("temperature", temperature.initial, {0, 1e6},
           "scores are divided by it: towards 0 hard, 1 soft, towards infinity uniform");
  f.number("final_temperature", temperature.final, {0, 1e6},
           "what the temperature becomes after temperature_steps; 0: it stays");
  f.integer("temperature_steps", temperature.steps, {0, 1e12},
            "training steps from temperature to final_temperature, by an equal factor each");
  f.choice("head_width", head_width, head_widths, "a head is D/H wide, or D");
  f.integer("key_dim", key_dim, width, "K, of every head's queries and keys; 0: by head_width");
  f.integer("value_dim", value_dim, width,
            "V, of every head's values; 0: as key_dim, or D where heads are not concatenated");
  f.integers("key_dims", key_dims, {1, 1 << 16}, "K of each head, when they differ; empty: alike");
  f.integers("value_dims", value_dims, {1, 1 << 16}, "V of each head, when they differ");
  f.choice("combine", combine, combines, "how the results of the heads become one");
  f.flag("project_query", project_query, "queries are W x; without, x itself");
  f.flag("project_key", project_key, "keys are W x; without, x itself");
  f.flag("project_value", project_value, "values are W x; without, x itself");
  f.flag("tie_key_value", tie_key_value, "values are the keys");
  f.integer("window", window, {0, 1e9}, "attend to less than so many places away; 0: to all");
  f.flag("causal", causal, "of an encoder: attend to no later place; decoders always do");
  f.integers("axes", axes, {0, 4}, "of a grid: axes that attend, from 0; empty: all of them");
  f.choice("activation", activation, activation_names, "a nonlinearity after attention");
  f.integer("graph_distances", graph_distances, {0, 1000},
            "on a graph: add to scores a number learned for each distance up to this; 0: none");
}

bool HeadWidths::alike() const {
  const auto same = [](const std::vector<int64_t>& widths) {
    return std::adjacent_find(widths.begin(), widths.end(), std::not_equal_to<>()) == widths.end();
  };
  return same(key) && same(value);
}

int64_t HeadWidths::keys() const { return std::accumulate(key.begin(), key.end(), int64_t{0}); }

int64_t HeadWidths::values() const {
  return std::accumulate(value.begin(), value.end(), int64_t{0});
}

namespace {

bool concatenates(Combine combine) {
  return combine == Combine::concat_projection || combine == Combine::concat;
}

void check_temperature(const MultiHeadOptions& o) {
  check_input(o.temperature.initial > 0,
              "model.attention.temperature = 0 is a limit, not a number to divide by: set "
              "model.attention.normaliser = \"hardmax\"");
  constexpr double least = 1e-6;  // scores over less may be infinite
  check_input(o.temperature.initial >= least,
              "model.attention.temperature = {} must be {} at least; for its limit set "
              "model.attention.normaliser = \"hardmax\"",
              o.temperature.initial, least);
  check_input(o.temperature.final == 0 || o.temperature.final >= least,
              "model.attention.final_temperature = {} must be {} at least, or 0: it stays",
              o.temperature.final, least);
  check_input((o.temperature.final > 0) == (o.temperature.steps > 0),
              "model.attention.final_temperature = {} and model.attention.temperature_steps = {} "
              "go together: give both or neither (the limit 0 is normaliser = \"hardmax\")",
              o.temperature.final, o.temperature.steps);
  check_input(!o.straight_through || o.normaliser == NormaliserKind::hardmax,
              "model.attention.straight_through = true is for normaliser = \"hardmax\", not \"{}\"",
              normaliser_names[static_cast<int>(o.normaliser)]);
}

// The width a head's keys have if no key says otherwise.
int64_t automatic_width(const MultiHeadOptions& o, int64_t dim, int64_t heads) {
  if (o.head_width == HeadWidth::wide) return dim;
  check_input(dim % heads == 0,
              "model.heads = {} does not divide {}, the width of the model (model.dim, or "
              "model.encoder_dim): give heads a width with model.attention.key_dim, or one each "
              "with model.attention.key_dims",
              heads, dim);
  return dim / heads;
}

std::vector<int64_t> listed(const char* key, const std::vector<int64_t>& widths, int64_t heads) {
  check_input(static_cast<int64_t>(widths.size()) == heads,
              "model.attention.{} = [{}] must give a width for each of the {} heads of model.heads",
              key, joined(widths), heads);
  return widths;
}

void check_projections(const MultiHeadOptions& o, const HeadWidths& widths, int64_t dim,
                       int64_t key_source, int64_t value_source) {
  const auto check_width = [](const char* key, bool projects, int64_t width, int64_t source) {
    check_input(projects || width == source,
                "model.attention.{} = false: the heads are {} wide together and what they read is "
                "{}; without a projection the two must be equal",
                key, width, source);
  };
  check_width("project_query", o.project_query, widths.keys(), dim);
  check_width("project_key", o.project_key, widths.keys(), key_source);
  if (!o.tie_key_value)
    check_width("project_value", o.project_value, widths.values(), value_source);
  check_input(
      !o.tie_key_value || widths.key == widths.value,
      "model.attention.tie_key_value = true needs values as wide as keys, not [{}] and [{}]",
      joined(widths.value), joined(widths.key));
}

void check_combination(const MultiHeadOptions& o, const HeadWidths& widths, int64_t dim) {
  if (o.combine == Combine::concat_projection) return;
  if (o.combine == Combine::concat) {
    check_input(
        widths.values() == dim,
        "model.attention.combine = \"concat\": the heads' values are {} wide together, which "
        "does not add up to model.dim = {}; set model.attention.value_dim, or combine = "
        "\"concat_projection\"",
        widths.values(), dim);
    return;
  }
  const bool fits = std::all_of(widths.value.begin(), widths.value.end(),
                                [dim](int64_t width) { return width == dim; });
  check_input(
      fits,
      "model.attention.combine: heads that are not concatenated must each be as wide as the "
      "model, {}, not [{}]; leave model.attention.value_dim at 0",
      dim, joined(widths.value));
}

}  // namespace

bool MultiHeadOptions::is_fused() const {
  const bool is_softmax = normaliser == NormaliserKind::softmax ||
                          (normaliser == NormaliserKind::sum && is_exponential(similarity.kind));
  const bool is_scaled_product =
      is_product(similarity.kind) && similarity.kind != SimilarityKind::cosine;
  return is_softmax && is_scaled_product && graph_distances == 0;
}

HeadWidths MultiHeadOptions::widths(int64_t dim, int64_t heads) const {
  const auto count = static_cast<size_t>(heads);
  HeadWidths widths;
  if (!key_dims.empty())
    widths.key = listed("key_dims", key_dims, heads);
  else
    widths.key.assign(count, key_dim > 0 ? key_dim : automatic_width(*this, dim, heads));
  if (!value_dims.empty())
    widths.value = listed("value_dims", value_dims, heads);
  else if (value_dim > 0)
    widths.value.assign(count, value_dim);
  else if (concatenates(combine))
    widths.value = widths.key;
  else
    widths.value.assign(count, dim);
  return widths;
}

void MultiHeadOptions::validate(int64_t dim, int64_t heads, int64_t key_source,
                                int64_t value_source) const {
  check_input(key_dim == 0 || key_dims.empty(),
              "model.attention.key_dim and key_dims exclude each other: give one of them");
  check_input(value_dim == 0 || value_dims.empty(),
              "model.attention.value_dim and value_dims exclude each other: give one of them");
  check_input(std::adjacent_find(axes.begin(), axes.end(), std::greater_equal<>()) == axes.end(),
              "model.attention.axes = [{}] must name each axis once, in ascending order",
              joined(axes));
  check_temperature(*this);
  const HeadWidths all = widths(dim, heads);
  check_projections(*this, all, dim, key_source, value_source);
  check_combination(*this, all, dim);
}

}  // namespace heed::inline HEED_REAL
