// Defines the options of nn/forms/attention.h: the keys of [model.attention], what follows from
// them, and their contradictions.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "core/activation_names.h"
#include "core/fields.h"
#include "core/joined.h"
#include "core/text.h"
#include "nn/forms/attention.h"
#include "nn/options.h"

namespace heed::inline HEED_REAL {

namespace {

constexpr Named<HeadWidth> width_names[] = {{"narrow", HeadWidth::narrow},
                                            {"wide", HeadWidth::wide}};
constexpr Named<Combine> combines[] = {{"concat_projection", Combine::concat_projection},
                                       {"concat", Combine::concat},
                                       {"weighted", Combine::weighted},
                                       {"tensor", Combine::tensor},
                                       {"mean", Combine::mean},
                                       {"max", Combine::max}};
constexpr Named<Over> overs[] = {{"positions", Over::positions}, {"features", Over::features}};
constexpr Named<ScoreScale> scales[] = {{"inverse_sqrt", ScoreScale::inverse_sqrt},
                                        {"inverse", ScoreScale::inverse},
                                        {"none", ScoreScale::none},
                                        {"value", ScoreScale::value}};

}  // namespace

void MultiHeadAttentionOptions::fields(Fields& f) {
  constexpr Range width{0, 1 << 16};
  f.choice("similarity", similarity, similarities::all, "score of a query and a key");
  const bool is_scaled = similarity == &similarities::scaled_dot;
  f.choice("scale", scale, scales,
           "factor of scaled_dot: 1/√K, 1/K, 1, or scale_value; K is the width of a head's keys")
      .when(is_scaled);
  f.number("scale_value", scale_value, {-1e6, 1e6}, "factor with scale = \"value\"")
      .when(is_scaled && scale == ScoreScale::value);
  f.number("sigma", sigma, {1e-6, 1e6}, "width σ of the gaussian similarity")
      .when(similarity == &similarities::gaussian);
  f.choice("normaliser", normaliser, normalisers::all, "how scores become weights");
  f.flag("straight_through", straight_through,
         "use the gradient of the softmax for hardmax; otherwise scores get no gradient");
  f.number("temperature", temperature, {0, 1e6},
           "divisor of the scores: hard near 0, soft at 1, uniform towards infinity");
  f.number("final_temperature", final_temperature, {0, 1e6},
           "temperature after temperature_steps; 0: it stays constant");
  f.integer("temperature_steps", temperature_steps, {0, 1e12},
            "training steps from temperature to final_temperature, at a constant ratio");
  f.choice("head_width", head_width, width_names, "width of a head: D/H (narrow) or D (wide)")
      .when(key_dim == 0 && key_dims.empty());
  f.integer("key_dim", key_dim, width, "K, of every head's queries and keys; 0: by head_width");
  f.integer("value_dim", value_dim, width,
            "V, of every head's values; 0: as key_dim, or D if heads are not concatenated");
  f.integers("key_dims", key_dims, {1, 1 << 16}, "K of each head, if they differ");
  f.integers("value_dims", value_dims, {1, 1 << 16}, "V of each head, if they differ");
  f.choice("combine", combine, combines, "how the outputs of the heads are combined");
  f.flag("project_query", project_query, "queries are W x; otherwise x itself");
  f.flag("project_key", project_key, "keys are W x; otherwise x itself");
  f.flag("project_value", project_value, "values are W x; otherwise x itself");
  f.flag("tie_key_value", tie_key_value, "use the keys as values");
  f.integer("projection_hidden", projection_hidden, {0, 1 << 20},
            "N: queries, keys and values are W₂ φ(W₁ x), with N hidden values; 0: W x");
  f.choice("projection_activation", projection_activation, activation_names,
           "φ with projection_hidden")
      .when(projection_hidden > 0);
  f.integer("output_dim", output_dim, width,
            "width of what attention returns, and of the layers after it; 0: D");
  f.choice("over", over, overs,
           "what attention mixes: positions, softmax(Q Kᵀ / √K) V, or features, "
           "V softmax(Qᵀ K / √T)");
  f.integer("window", window, {0, 1e9},
            "attend to positions at a distance less than this; 0: to all");
  f.flag("causal", causal, "let an encoder attend to no later position; decoders never do");
  f.integers("axes", axes, {0, 3}, "axes of a grid to attend along, from 0; empty: all");
  f.choice("activation", activation, activation_names, "activation after attention");
  f.integer("graph_distances", graph_distances, {0, 1000},
            "on a graph, add a learned bias to the scores for each distance up to this; 0: none");
}

bool HeadWidths::equal() const {
  const auto all_equal = [](const std::vector<int64_t>& widths) {
    return std::adjacent_find(widths.begin(), widths.end(), std::not_equal_to<>()) == widths.end();
  };
  return all_equal(key) && all_equal(value);
}

int64_t HeadWidths::keys() const { return std::accumulate(key.begin(), key.end(), int64_t{0}); }

int64_t HeadWidths::values() const {
  return std::accumulate(value.begin(), value.end(), int64_t{0});
}

namespace {

bool concatenates(Combine combine) {
  return combine == Combine::concat_projection || combine == Combine::concat;
}

void check_temperature(const MultiHeadAttentionOptions& o) {
  constexpr double min = 1e-6;  // smaller ones could make scores infinite
  check_input(o.temperature >= min,
              "`attention.temperature` = {} must be at least {}; for the limit 0 set "
              "`attention.normaliser` = \"hardmax\"",
              o.temperature, min);
  check_input(o.final_temperature == 0 || o.final_temperature >= min,
              "`attention.final_temperature` = {} must be at least {}, or 0: constant",
              o.final_temperature, min);
  check_input((o.final_temperature > 0) == (o.temperature_steps > 0),
              "`attention.final_temperature` = {} and `attention.temperature_steps` = {}: set both "
              "or neither (for the limit 0 set `attention.normaliser` = \"hardmax\")",
              o.final_temperature, o.temperature_steps);
  check_input(!o.straight_through || o.normaliser->has_straight_through,
              "`attention.straight_through` = true needs `attention.normaliser` = {}, not {}",
              names_where(normalisers::all, &NormaliserRule::has_straight_through),
              o.normaliser->name);
}

// The width of a head's keys if no option sets it.
int64_t automatic_width(const MultiHeadAttentionOptions& o, int64_t dim, int64_t heads) {
  if (o.head_width == HeadWidth::wide) return dim;
  check_input(
      dim % heads == 0,
      "`heads` = {} does not divide {}, the width of the model (`dim`, or `encoder_dim`): set the "
      "width of heads with `attention.key_dim`, or of each head with `attention.key_dims`",
      heads, dim);
  return dim / heads;
}

std::vector<int64_t> listed(const char* key, const std::vector<int64_t>& widths, int64_t heads) {
  check_input(static_cast<int64_t>(widths.size()) == heads,
              "`attention.{}` = [{}] must have one width for each of the {} heads of `heads`", key,
              shortened(joined(widths)), heads);
  return widths;
}

void check_projections(const MultiHeadAttentionOptions& o, const HeadWidths& widths, int64_t dim,
                       int64_t key_source, int64_t value_source) {
  const auto check_width = [](const char* key, bool projects, int64_t width, int64_t source) {
    check_input(projects || width == source,
                "`attention.{}` = false needs heads whose total width is that of their input, not "
                "{} and {}",
                key, width, source);
  };
  check_width("project_query", o.project_query, widths.keys(), dim);
  check_width("project_key", o.project_key, widths.keys(), key_source);
  if (!o.tie_key_value)
    check_width("project_value", o.project_value, widths.values(), value_source);
  check_input(!o.tie_key_value || widths.key == widths.value,
              "`attention.tie_key_value` = true needs values as wide as keys, not [{}] and [{}]",
              shortened(joined(widths.value)), shortened(joined(widths.key)));
}

void check_combination(const MultiHeadAttentionOptions& o, const HeadWidths& widths, int64_t dim) {
  if (o.combine == Combine::concat_projection) return;
  if (o.combine == Combine::concat) {
    check_input(
        widths.values() == dim,
        "`attention.combine` = \"concat\": the total width of the heads' values is {}, which does "
        "not add up to the output's, {} (`dim`, or `attention.output_dim`); set "
        "`attention.value_dim`, or `attention.combine` = "
        "\"concat_projection\"",
        widths.values(), dim);
    return;
  }
  // The width of the output is that of the model, unless output_dim sets it.
  const bool fits = std::all_of(widths.value.begin(), widths.value.end(),
                                [dim](int64_t width) { return width == dim; });
  check_input(fits,
              "`attention.combine` = \"{}\" needs heads as wide as its output, {}, not [{}]; "
              "leave `attention.value_dim` at 0",
              name_of(combines, o.combine), dim, shortened(joined(widths.value)));
}

// Over features there are no pairs of positions.
void check_over(const MultiHeadAttentionOptions& o, const HeadWidths& widths) {
  if (o.over == Over::positions) return;
  const auto refuse = [](bool holds, const std::string& setting) {
    check_input(
        !holds,
        "`attention.over` = \"features\" has one matrix of weights for all positions, which "
        "needs all of them: {}",
        setting);
  };
  refuse(o.causal,
         "it cannot be causal, as decoders and `attention.causal` = true are; use "
         "`kind` = \"classifier\"");
  refuse(o.window > 0, "set `attention.window` = 0");
  refuse(!o.axes.empty(), "leave `attention.axes` empty");
  refuse(o.graph_distances > 0, "set `attention.graph_distances` = 0");
  refuse(o.positional.kind->acts_in_attention(),
         fmt::format("`positional.kind` = \"{}\" relates pairs of positions; choose one that does "
                     "not",
                     o.positional.kind->name));
  refuse(o.similarity != &similarities::scaled_dot || o.scale != ScoreScale::inverse_sqrt,
         "the score is Qᵀ K / √T; leave `attention.similarity` and `attention.scale` at "
         "\"scaled_dot\" and \"inverse_sqrt\"");
  refuse(widths.key != widths.value,
         fmt::format("values must be as wide as keys, not [{}] and [{}]; set `attention.value_dim`",
                     shortened(joined(widths.value)), shortened(joined(widths.key))));
}

}  // namespace

bool is_softmax(const MultiHeadAttentionOptions& o) {
  return o.normaliser->is_softmax || (o.normaliser->divides_by_sum && o.similarity->is_exponential);
}

double temperature_at(const MultiHeadAttentionOptions& o, int64_t step) {
  if (o.final_temperature == 0) return o.temperature;
  const auto steps = static_cast<double>(o.temperature_steps);
  const double progress = steps > 0 ? std::min(1.0, static_cast<double>(step) / steps) : 1;
  return o.temperature * std::pow(o.final_temperature / o.temperature, progress);
}

HeadWidths head_widths(const MultiHeadAttentionOptions& o, int64_t dim, int64_t heads) {
  const auto count = static_cast<size_t>(heads);
  HeadWidths widths;
  if (!o.key_dims.empty())
    widths.key = listed("key_dims", o.key_dims, heads);
  else
    widths.key.assign(count, o.key_dim > 0 ? o.key_dim : automatic_width(o, dim, heads));
  if (!o.value_dims.empty())
    widths.value = listed("value_dims", o.value_dims, heads);
  else if (o.value_dim > 0)
    widths.value.assign(count, o.value_dim);
  else if (concatenates(o.combine))
    widths.value = widths.key;
  else
    widths.value.assign(count, output_width(o, dim));
  return widths;
}

void validate_attention(const MultiHeadAttentionOptions& o, int64_t dim, int64_t heads) {
  check(heads >= 1, "multi-head attention: expected at least 1 head, got {}", heads);
  check_fields(o, "attention");
  check_input(o.key_dim == 0 || o.key_dims.empty(),
              "`attention.key_dim` and `attention.key_dims` exclude each other: give one of them");
  check_input(
      o.value_dim == 0 || o.value_dims.empty(),
      "`attention.value_dim` and `attention.value_dims` exclude each other: give one of them");
  check_input(
      std::adjacent_find(o.axes.begin(), o.axes.end(), std::greater_equal<>()) == o.axes.end(),
      "`attention.axes` = [{}] must name each axis once, in ascending order",
      shortened(joined(o.axes)));
  check_temperature(o);
  const HeadWidths all = head_widths(o, dim, heads);
  const int64_t key_source = o.context_dim ? o.context_dim : dim;
  check_projections(o, all, dim, key_source, o.value_source_dim ? o.value_source_dim : key_source);
  check_combination(o, all, output_width(o, dim));
  check_over(o, all);
  check_fields(o.positional, "positional encoding");
  check_range("multi-head attention", "dropout", o.dropout, dropout_range);
}

void MultiHeadAttentionOptions::check_standard(int64_t dim, int64_t heads) const {
  check_input(heads >= 1 && dim % heads == 0,
              "multi-head attention: {} heads do not divide the width {}", heads, dim);
  validate_attention(*this, dim, heads);
  const HeadWidths widths = head_widths(*this, dim, heads);
  check(similarity == &similarities::scaled_dot && scale == ScoreScale::inverse_sqrt &&
            normaliser == &normalisers::softmax && temperature == 1 && final_temperature == 0 &&
            widths.equal() && widths.key[0] * heads == dim && widths.value[0] * heads == dim &&
            combine == Combine::concat_projection && project_query && project_key &&
            project_value && !tie_key_value && window == 0 && graph_distances == 0 &&
            axes.empty() && value_source_dim == 0 && projection_hidden == 0 && output_dim == 0 &&
            over == Over::positions && !positional.kind->score_bias,
        "multi-head attention: these options choose another form, which make_attention() makes");
}

}  // namespace heed::inline HEED_REAL
