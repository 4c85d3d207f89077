#include "nn/block.h"

#include "core/ops.h"
#include "nn/module_scope.h"

namespace heed::inline HEED_REAL {

void BlockOptions::validate_layer() const {
  check_fields(*this, "block");
  const PositionalRule& position = *positional.kind;
  const SimilarityRule& similarity = *attention.similarity.kind;
  const char* const name = mixing.kind->name;
  positional.validate(dim);
  check_keys(!position.acts_in_attention() || mixing.kind->is_attention,
             {"model.positional.kind", "model.block.mixing"},
             "model.positional.kind = \"{}\" acts inside attention, and model.block.mixing = "
             "\"{}\" has none",
             position.name, name);
  check_keys(
      !position.rotate || similarity.is_product,
      {"model.positional.kind", "model.attention.similarity"},
      "model.positional.kind = \"{}\" makes products of queries and keys depend on their "
      "distance, and model.attention.similarity = \"{}\" is not such a product: use one of {}, or "
      "other positions",
      position.name, similarity.name, names_where(similarities::all, &SimilarityRule::is_product));
  check_keys(!attention.causal || mixing.kind->can_be_causal,
             {"model.block.mixing", "model.attention.causal", "model.kind"},
             "model.block.mixing = \"{}\" reads later positions, which a decoder must not, nor a "
             "layer with model.attention.causal = true; it needs model.kind = \"classifier\"",
             name);
  if (mixing.kind->validate) mixing.kind->validate(*this);
  if (position.rotate)
    for (const int64_t width : attention.widths(dim, heads).key)
      check_keys(width % 2 == 0, {"model.positional.kind", "model.attention.key_dim"},
                 "model.positional.kind = \"{}\" rotates pairs of columns: a head of width {} is "
                 "odd; set model.attention.key_dim",
                 position.name, width);
  if (mixing.kind->is_attention) return;
  check_keys(attention.window == 0, {"model.attention.window", "model.block.mixing"},
             "model.attention.window = {} applies to attention, and model.block.mixing = \"{}\" "
             "has none",
             attention.window, name);
  check_keys(attention.axes.empty(), {"model.attention.axes", "model.block.mixing"},
             "model.attention.axes applies to attention, and model.block.mixing = \"{}\" has none",
             name);
  check_keys(attention.graph_distances == 0,
             {"model.attention.graph_distances", "model.block.mixing"},
             "model.attention.graph_distances = {} biases the scores of attention, and "
             "model.block.mixing = \"{}\" has none",
             attention.graph_distances, name);
}

namespace {

LinearOptions linear_options(const BlockOptions& o, int64_t residual_depth) {
  return {.bias = o.bias, .init = o.init, .residual_depth = residual_depth};
}

NormOptions norm_options(const BlockOptions& o) {
  NormOptions norm = o.norm;
  norm.bias = norm.bias && o.bias;
  return norm;
}

std::unique_ptr<Mixing> make_mixing(const BlockOptions& o, int64_t residual_depth) {
  o.validate_layer();
  return o.mixing.kind->make(o, linear_options(o, residual_depth));
}

AttentionSetup cross_attention(const BlockOptions& o, int64_t residual_depth) {
  return {.context_dim = o.memory_dim,
          .dropout = o.attention_dropout,
          .linear = linear_options(o, residual_depth),
          .form = o.attention.without_positions()};
}

FeedForward feed_forward(const BlockOptions& o, int64_t residual_depth) {
  const int64_t hidden = o.feed_forward > 0 ? o.feed_forward : 4 * o.dim;
  return {o.dim, hidden, o.activation, o.dropout, linear_options(o, residual_depth)};
}

}  // namespace

Residual::Residual(const BlockOptions& o)
    : norm(o.dim, norm_options(o)), norm_first(o.norm_first), dropout(o.dropout) {}

template <class Sublayer>
Tensor Residual::operator()(const Tensor& x, const Sublayer& sublayer) const {
  if (norm_first) return x + heed::dropout(sublayer(norm(x)), dropout);
  return norm(x + heed::dropout(sublayer(x), dropout));
}

EncoderLayer::EncoderLayer(const BlockOptions& o, int64_t residual_depth)
    : mixing_residual_(o),
      mixing_(make_mixing(o, residual_depth)),
      feed_forward_residual_(o),
      feed_forward_(feed_forward(o, residual_depth)) {
  const std::string mixing = o.mixing.kind->name;
  add(mixing + "_norm", mixing_residual_.norm);
  add(mixing, *mixing_);
  add("feed_forward_norm", feed_forward_residual_.norm);
  add("feed_forward", feed_forward_);
}

Tensor EncoderLayer::operator()(const Tensor& x, const SequenceContext& sequence) const {
  const ModuleScope here(*this);
  const Tensor y = mixing_residual_(x, [&](const Tensor& z) { return (*mixing_)(z, sequence); });
  return feed_forward_residual_(y, feed_forward_);
}

DecoderLayer::DecoderLayer(const BlockOptions& o, int64_t residual_depth)
    : mixing_residual_(o),
      mixing_(make_mixing(o, residual_depth)),
      cross_attention_residual_(o),
      cross_attention_(make_attention(o.dim, o.heads, cross_attention(o, residual_depth))),
      feed_forward_residual_(o),
      feed_forward_(feed_forward(o, residual_depth)) {
  const std::string mixing = o.mixing.kind->name;
  add(mixing + "_norm", mixing_residual_.norm);
  add(mixing, *mixing_);
  add("cross_attention_norm", cross_attention_residual_.norm);
  add("cross_attention", *cross_attention_);
  add("feed_forward_norm", feed_forward_residual_.norm);
  add("feed_forward", feed_forward_);
}

Tensor DecoderLayer::operator()(const Tensor& x, const SequenceContext& sequence,
                                const Tensor& memory, const KeepMask& memory_mask) const {
  const ModuleScope here(*this);
  const Tensor y = mixing_residual_(x, [&](const Tensor& z) { return (*mixing_)(z, sequence); });
  const Tensor w = cross_attention_residual_(y, [&](const Tensor& z) {
    return cross_attention_->across(z, memory, memory_mask, sequence.past);
  });
  return feed_forward_residual_(w, feed_forward_);
}

template <class Layer>
Stack<Layer>::Stack(const BlockOptions& options, int64_t layers) {
  for (int64_t i = 0; i < layers; ++i) {
    layers_.push_back(std::make_unique<Layer>(options, Layer::sublayers * layers));
    add(fmt::format("layers.{}", i), *layers_.back());
  }
  if (!options.has_final_norm()) return;
  norm_ = std::make_unique<Norm>(options.dim, norm_options(options));
  add("norm", *norm_);
}

template class Stack<EncoderLayer>;
template class Stack<DecoderLayer>;

}  // namespace heed::inline HEED_REAL
