#include "course/grader/language_model.h"

namespace heed::course {

[[gnu::weak]] int64_t count_parameters(const ModelOptions& model, int64_t vocabulary);

void grade_count_parameters(Grader& g, int64_t (*count_parameters)(const ModelOptions& model,
                                                                   int64_t vocabulary)) {
  const auto parameters = [](const CountedModel& model) {
    ScopeGuard here;
    here->shapes_only = true;  // counts without computing values
    return static_cast<double>(model.make()->parameter_count());
  };
  const auto count_of = [=](const CountedModel& model) {
    const ModelOptions& o = model.options;
    const auto with = [&](auto change) {
      CountedModel other = model;
      change(other.options);
      return parameters(other);
    };
    const double all = parameters(model);
    const HeadWidths widths = o.attention.widths(o.dim, o.heads);
    const auto layers = static_cast<double>(o.layers), dim = static_cast<double>(o.dim);
    const auto hidden = static_cast<double>(o.feed_forward > 0 ? o.feed_forward : 4 * o.dim);
    const auto keys = static_cast<double>(widths.keys());
    const auto values = static_cast<double>(widths.values());
    const auto tokens = static_cast<double>(model.vocabulary);
    const auto positions = static_cast<double>(o.positional.max_length);
    const auto heads = static_cast<double>(o.heads);
    const double bias = o.bias ? 1 : 0;
    const double norms = 2 * layers + 1, norm = dim * (1 + bias);
    const double one_layer = all - with([](ModelOptions& other) { other.layers -= 1; });
    const double inputs = (2 * keys + values) * (dim + bias);  // of queries, keys and values
    return Count{
        all,
        {{tokens * dim,
          "This is the embedding alone: the layers, the positions and the rest are "
          "missing."},
         {with([](ModelOptions& other) { other.bias = false; }),
          "The biases are missing, of linear layers and of norms: model.bias is true."},
         {with([](ModelOptions& other) { other.bias = true; }),
          "Biases are counted, but model.bias is false: neither linear layers nor norms have one."},
         {all - norms * norm, "The norms are missing: two in each layer, and one after the last."},
         {all - norm, "The norm after the last layer is missing."},
         {all - 2 * layers * norm, "The norms in the layers are missing: there are two in each."},
         {all - layers * norm, "Each layer has two norms: one of them is missing."},
         {all - norms * dim * bias, "A LayerNorm has a weight and a bias: its biases are missing."},
         {o.tie_weights ? all + tokens * dim : all,
          "The tied matrix is counted twice: with tie_weights the logits are computed by the "
          "embedding."},
         {o.tie_weights ? all : all - tokens * dim,
          "The matrix of the logits is missing: without tie_weights it is one of its own."},
         {all + (o.tie_weights ? 0 : tokens), "The layer that computes the logits has no bias."},
         {all - positions * dim, "The table of positions is missing: max_length rows of dim."},
         {all - one_layer * (layers - 1), "Only one layer is counted: there are model.layers."},
         {all - layers * (values + bias) * dim,
          "The output projection of attention is missing: a fourth matrix, H·V to D."},
         {all + (heads - 1) * layers * (inputs + values * dim),
          "Each head is counted at the width of all heads: H heads of width K have a matrix of "
          "H·K columns together."},
         {all - layers * (hidden * dim + dim * bias),
          "The second matrix of the feed-forward network is missing."},
         {all - layers * (2 * hidden * dim + (hidden + dim) * bias) +
              layers * (2 * static_cast<double>(o.feed_forward) * dim +
                        (static_cast<double>(o.feed_forward) + dim) * bias),
          "feed_forward = 0 stands for 4 · dim."},
         {with(
              [](ModelOptions& other) { other.attention.key_dim = other.attention.value_dim = 0; }),
          "key_dim and value_dim set the widths of a head: queries and keys have H·K columns, "
          "values H·V, not dim."},
         {with([](ModelOptions& other) { other.attention.value_dim = 0; }),
          "value_dim sets the width of values; only if it is 0 are they as wide as keys."}}};
  };
  const auto check = [&](auto change) {
    const auto [model, count] = clear_count(g, change, count_of);
    g.expect_near("parameters of " + model.name(),
                  static_cast<double>(count_parameters(model.options, model.vocabulary)),
                  count.expected, count.mistakes, 1e-12);
  };
  check([](ModelOptions&) {});
  check([](ModelOptions& o) { o.tie_weights = true; });
  check([](ModelOptions& o) { o.bias = false; });
  check([](ModelOptions& o) { o.feed_forward = 0; });
  const int64_t key = g.size(9, 11), value = g.size(3, 4);
  check([=](ModelOptions& o) { o.attention.key_dim = key, o.attention.value_dim = value; });
  check([=](ModelOptions& o) { o.attention.key_dim = value; });
}
HEED_GRADE(count_parameters, count_parameters);

}  // namespace heed::course
