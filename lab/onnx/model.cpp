#include "lab/onnx/model.h"

#include <algorithm>
#include <limits>
#include <numbers>
#include <set>

#include "core/joined.h"
#include "core/scope.h"
#include "lab/onnx/positions.h"

namespace heed::onnx {
namespace {

void check_supported(const ModelOptions& o, const ModelSizes& sizes) {
  const MultiHeadAttentionOptions& a = o.attention;
  const auto refuse = [](bool holds, const std::string& setting, const std::string& instead) {
    check_input(!holds, "{} has no export to ONNX, which needs {}", setting, instead);
  };
  const auto named = [](const char* key, const char* value) {
    return fmt::format("`model.{}` = \"{}\"", key, value);
  };
  refuse(sizes.two_sources, "a model of two sources", "one source");
  refuse(!o.mixing.kind->is_attention, named("block.mixing", o.mixing.kind->name), "attention");
  refuse(!a.similarity->is_dot_product, named("attention.similarity", a.similarity->name),
         "one of " + names_where(similarities::all, &SimilarityRule::is_dot_product));
  refuse(!is_softmax(a), named("attention.normaliser", a.normaliser->name), "softmax");
  refuse(a.combine != Combine::concat_projection, "this value of `model.attention.combine`",
         "concat_projection");
  refuse(!a.key_dims.empty() || !a.value_dims.empty(),
         "`model.attention.key_dims` or `model.attention.value_dims`", "heads of one width");
  refuse(!a.axes.empty() && a.axes.size() < sizes.grid.size(), "`model.attention.axes`",
         "attention along all axes");
  refuse(a.graph_distances > 0, "`model.attention.graph_distances`", "0");
  refuse(a.projection_hidden > 0, "`model.attention.projection_hidden`", "0");
  refuse(a.output_dim > 0, "`model.attention.output_dim`", "0");
  refuse(a.over != Over::positions, "this value of `model.attention.over`", "positions");
  namespace positions = positional_encodings;
  const PositionalRule* const known[] = {
      &positions::none,   &positions::sinusoidal, &positions::learned, &positions::integer,
      &positions::rotary, &positions::alibi,      &positions::relative};
  std::vector<std::string> names;
  for (const PositionalRule* rule : known) names.emplace_back(rule->name);
  refuse(std::find(std::begin(known), std::end(known), o.positional.kind) == std::end(known),
         named("positional.kind", o.positional.kind->name), "one of " + joined(names));
}

class Exporter {
 public:
  Exporter(const ModelOptions& options, const ModelSizes& sizes,
           const std::vector<NamedParameter>& parameters)
      : o_(options), sizes_(sizes) {
    for (const NamedParameter& p : parameters) weights_.insert(g_.weight(p.name, p.tensor));
  }

  Graph language_model() {
    const Value input = read("input", "length");
    const ModelOptions block = o_.decoder_stack();
    const Value x = embedded(input, "embedding", block);
    const Value states = stack(x, "decoder", block, o_.layers, self_context(g_, input, block));
    return has_own_head(sizes_) ? with_own_head(states, {"batch", "length"}) : finished(states);
  }

  Graph seq2seq() {
    const Value source = read("source", "source_length");
    const Value lengths = g_.input("source_lengths", Element::int64, {"batch"});
    const Value input = g_.input("input", Element::int64, {"batch", "length"});
    const ModelOptions encoder = o_.encoder_stack(sizes_), decoder = o_.decoder_stack();
    const Value real = real_keys(g_, source, lengths);
    const Value x =
        embedded(source, o_.share_embeddings ? "embedding" : "source_embedding", encoder);
    const Value memory =
        stack(x, "encoder", encoder, o_.layers, self_context(g_, source, encoder, real));
    const Value y = embedded(input, "embedding", decoder);
    const int64_t layers = o_.decoder_layers ? o_.decoder_layers : o_.layers;
    return finished(
        stack(y, "decoder", decoder, layers, self_context(g_, input, decoder), memory, {real}));
  }

  Graph classifier() {
    const ModelOptions block = o_.encoder_stack(sizes_);
    const Value input = read("input", "length");
    const bool padded = block.attention.grid.empty();
    const Value lengths = padded ? g_.input("input_lengths", Element::int64, {"batch"}) : "";
    const Value real = padded ? real_keys(g_, input, lengths) : "";
    const Value x = embedded(input, "embedding", block);
    const Value states =
        stack(x, "encoder", block, o_.layers, self_context(g_, input, block, real));
    if (o_.pool == Pool::none) return with_own_head(states, {"batch", time_axis("length")});
    const Value read = pooled(states, real, lengths);
    if (o_.pool == Pool::queries) return with_own_head(read, {"batch", o_.pool_queries});
    return with_own_head(read, {"batch"});
  }

 private:
  // ---- layers, as in nn/
  bool has(const std::string& name) const { return weights_.contains(name); }

  // y = x wᵀ + b
  Value linear(const Value& x, const std::string& name) {
    const Value y = g_.matmul(x, g_.transpose(name + ".weight", {1, 0}));
    return has(name + ".bias") ? g_.add(y, name + ".bias") : y;
  }

  Value activated(const Value& x, Activation function) {
    switch (function) {
      case Activation::none:
        return x;
      case Activation::relu:
        return g_.node("Relu", {x});
      case Activation::tanh:
        return g_.node("Tanh", {x});
      case Activation::sigmoid:
        return g_.node("Sigmoid", {x});
      case Activation::silu:
        return g_.mul(x, g_.node("Sigmoid", {x}));
      case Activation::gelu: {  // ½ x (1 + erf(x / √2))
        const Value erf = g_.node("Erf", {g_.mul(x, std::numbers::sqrt2 / 2)});
        return g_.mul(g_.mul(x, g_.add(erf, g_.number(1.0F))), 0.5);
      }
      case Activation::gelu_tanh: {  // ½ x (1 + tanh(√(2/π) (x + 0.044715 x³)))
        const Value cube = g_.mul(g_.mul(g_.mul(x, x), x), 0.044715);
        const Value t = g_.node("Tanh", {g_.mul(g_.add(x, cube), sqrt_2_over_pi)});
        return g_.mul(g_.mul(x, g_.add(t, g_.number(1.0F))), 0.5);
      }
      default:
        throw InputError(fmt::format("the activation {} has no export to ONNX", name_of(function)));
    }
  }

  Value norm(const Value& x, const std::string& name) {
    if (o_.norm.kind == NormKind::none) return x;
    const auto epsilon = static_cast<float>(o_.norm.epsilon);
    const Value weight = name + ".weight", bias = name + ".bias";
    if (o_.norm.kind == NormKind::layer) {
      std::vector<Value> inputs{x, weight};
      if (has(bias)) inputs.push_back(bias);
      return g_.node("LayerNormalization", inputs, {{"epsilon", epsilon}});
    }
    const Value mean = g_.node("ReduceMean", {g_.mul(x, x)}, {{"axes", std::vector<int64_t>{-1}}});
    const Value size = g_.node("Sqrt", {g_.add(mean, g_.number(epsilon))});
    return g_.mul(g_.node("Div", {x, size}), weight);
  }

  Value feed_forward(const Value& x, const std::string& name) {
    Value hidden = activated(linear(x, name + ".up"), o_.activation.function);
    if (o_.activation.gated) hidden = g_.mul(hidden, linear(x, name + ".gate"));
    return linear(hidden, name + ".down");
  }

  // (B, T, H·K) → (B, H, T, K)
  Value split_heads(const Value& x, int64_t width) {
    return g_.transpose(g_.reshape(x, {0, 0, o_.heads, width}), {0, 2, 1, 3});
  }

  // x (B, Tq, D), source (B, Tk, Ds) → (B, Tq, D)
  Value attention(const Value& x, const Value& source, const std::string& name, int64_t dim,
                  const PositionContext& context) {
    const MultiHeadAttentionOptions& a = o_.attention;
    const HeadWidths widths = head_widths(a, dim, o_.heads);
    const int64_t key_width = widths.key[0], value_width = widths.value[0];
    const Value query = a.project_query ? linear(x, name + ".query") : x;
    const Value key = a.project_key ? linear(source, name + ".key") : source;
    const Value value = a.tie_key_value   ? key
                        : a.project_value ? linear(source, name + ".value")
                                          : source;
    const Value q = rotated(g_, split_heads(query, key_width), key_width, o_.positional, context);
    const Value k = rotated(g_, split_heads(key, key_width), key_width, o_.positional, context);
    Value scores = g_.matmul(q, g_.transpose(k, {0, 1, 3, 2}));  // (B, H, Tq, Tk)
    const auto scale = a.similarity->scale;
    if (scale) scores = g_.mul(scores, scale(a, key_width));
    scores = biased(g_, scores, name, o_.heads, o_.positional, context);
    scores = g_.mul(scores, 1 / temperature_at(a, scope().step));
    if (!context.keep.empty())  // finite: a row with only -∞ would become NaN
      scores =
          g_.node("Where", {context.keep, scores, g_.number(std::numeric_limits<float>::lowest())});
    const Value weights = g_.node("Softmax", {scores}, {{"axis", int64_t{-1}}});
    const Value z = g_.transpose(g_.matmul(weights, split_heads(value, value_width)), {0, 2, 1, 3});
    return activated(linear(g_.reshape(z, {0, 0, o_.heads * value_width}), name + ".output"),
                     a.activation);
  }

  template <class Sublayer>
  Value residual(const Value& x, const std::string& name, const Sublayer& sublayer) {
    const std::string own = name + "_norm";
    const Value added = sublayer(o_.norm_first ? norm(x, own) : x);
    const Value y = o_.mixing.residual ? g_.add(x, added) : added;
    return o_.norm_first ? y : norm(y, own);
  }

  // Layers, and a last norm. With a memory (B, Ts, De) they are those of a decoder.
  Value stack(Value x, const std::string& name, const ModelOptions& block, int64_t layers,
              const PositionContext& self, const Value& memory = "",
              const PositionContext& across = {}) {
    for (int64_t i = 0; i < layers; ++i) {
      const std::string layer = fmt::format("{}.layers.{}.", name, i);
      const std::string own = layer + "attention", cross = layer + "cross_attention";
      x = residual(x, own, [&](const Value& z) { return attention(z, z, own, block.dim, self); });
      if (!memory.empty())
        x = residual(x, cross, [&](const Value& z) {
          return attention(z, memory, cross, block.dim, across);
        });
      if (!o_.mixing.feed_forward) continue;
      const std::string forward = layer + "feed_forward";
      x = residual(x, forward, [&](const Value& z) { return feed_forward(z, forward); });
    }
    return block.has_final_norm() ? norm(x, name + ".norm") : x;
  }

  // ---- inputs and outputs
  Value read(const char* name, const char* length) {
    if (sizes_.features == 0) return g_.input(name, Element::int64, {"batch", length});
    return g_.input(name, Element::float32, {"batch", time_axis(length), sizes_.features});
  }

  Axis time_axis(const char* length) const {
    return sizes_.grid.empty() ? Axis(length) : Axis(Shape(sizes_.grid).size());
  }

  Value embedded(const Value& input, const std::string& name, const ModelOptions& stack) {
    const std::string token = name + ".token.weight", position = name + ".position";
    const Value x = has(token) ? g_.mul(g_.gather(token, input), embedding_scale(stack))
                               : linear(input, name + ".projection");
    return with_positions(g_, x, position, stack.dim, o_.positional, stack.attention.grid);
  }

  // The outputs of the head of a Classifier for states (…, D).
  Graph with_own_head(const Value& states, std::vector<Axis> axes) {
    axes.emplace_back(sizes_.classes);
    g_.output(sizes_.classes == 1 ? "numbers" : "logits", linear(states, "head"), axes);
    return std::move(g_);
  }

  // Logits over the vocabulary, by the embedding if weights are tied.
  Graph finished(const Value& states) {
    const Value logits = has("head.weight")
                             ? linear(states, "head")
                             : g_.matmul(states, g_.transpose("embedding.token.weight", {1, 0}));
    g_.output("logits", logits, {"batch", "length", sizes_.vocabulary});
    return std::move(g_);
  }

  // (B, T, D) → (B, D), (B, queries · D) or (B, queries, D)
  Value pooled(const Value& states, const Value& real, const Value& lengths) {
    if (has_queries(o_.pool)) {
      const Value queries = g_.unsqueeze("pool.queries", {0});  // the same for all examples
      const Value read = attention(queries, states, "pool.attention", o_.dim, {real});
      return o_.pool == Pool::queries ? read : g_.reshape(read, {0, o_.pool_queries * o_.dim});
    }
    if (o_.pool == Pool::first) return g_.gather(states, g_.integer(0), 1);
    const Attribute over_time{"axes", std::vector<int64_t>{1}}, flat{"keepdims", int64_t{0}};
    if (real.empty()) return g_.node("ReduceMean", {states}, {over_time, flat});
    const Value weights =
        g_.node("Div", {g_.cast(g_.reshape(real, {0, 1, -1}), Element::float32),
                        g_.cast(g_.reshape(lengths, {-1, 1, 1}), Element::float32)});
    return g_.node("Squeeze", {g_.matmul(weights, states), g_.integers({1})});
  }

  const ModelOptions& o_;
  const ModelSizes& sizes_;
  Graph g_;
  std::set<std::string> weights_;
};

}  // namespace

Graph graph_of(const ModelOptions& options, const ModelSizes& sizes,
               const std::vector<NamedParameter>& parameters) {
  check_supported(options, sizes);
  Exporter exporter(options, sizes, parameters);
  switch (options.kind) {
    case ModelKind::seq2seq:
      return exporter.seq2seq();
    case ModelKind::language_model:
      return exporter.language_model();
    case ModelKind::classifier:
      return exporter.classifier();
  }
  throw Error("model: unknown kind");
}

}  // namespace heed::onnx
