// Defines nn/block.h: the residual stream, the layers, then the construction of all.
#include "nn/block.h"

#include "core/standard_ops.h"
#include "nn/tap.h"

namespace heed::inline HEED_REAL {

template <class Sublayer>
Tensor Residual::operator()(const Tensor& x, const Sublayer& sublayer) const {
  const Tensor z = tapped(norm, Site::sublayer, sublayer(norm_first ? norm(x) : x));
  const Tensor kept = skip ? (*skip)(x) : x;
  const Tensor y = adds ? kept + heed::dropout(z, dropout) : heed::dropout(z, dropout);
  return tapped(norm, Site::stream, norm_first ? y : norm(y));
}

Tensor EncoderLayer::operator()(const Tensor& x, const SequenceContext& sequence) const {
  const ModuleScope here(*this);
  const Tensor y = mixing_residual_(x, [&](const Tensor& z) { return (*mixing_)(z, sequence); });
  return feed_forward_ ? feed_forward_->residual(y, feed_forward_->network) : y;
}

Tensor DecoderLayer::operator()(const Tensor& x, const SequenceContext& sequence,
                                const Tensor& memory, const KeepMask& memory_mask) const {
  const ModuleScope here(*this);
  const Tensor y = mixing_residual_(x, [&](const Tensor& z) { return (*mixing_)(z, sequence); });
  const Tensor w = cross_attention_residual_(y, [&](const Tensor& z) {
    return cross_attention_->across(z, memory, memory_mask, sequence.past);
  });
  return feed_forward_ ? feed_forward_->residual(w, feed_forward_->network) : w;
}

// ---- construction

namespace {

LinearOptions weights(const ModelOptions& o, int64_t residual_depth) {
  return {o.bias, o.init, o.mixing.residual ? residual_depth : 0};
}

NormOptions norm_options(const ModelOptions& o) {
  return {o.norm.kind, o.norm.epsilon, o.norm.bias && o.bias};
}

MultiHeadAttentionOptions attention_options(const ModelOptions& o, const LinearOptions& linear) {
  MultiHeadAttentionOptions options = o.attention;
  options.dropout = o.attention_dropout;
  options.linear = linear;
  options.positional = o.positional;
  return options;
}

// Of a sublayer that reads vectors of this width.
Residual residual_of(Module* layer, const std::string& sublayer, const ModelOptions& o,
                     int64_t from) {
  o.validate_stack();
  const int64_t to = o.width();
  const bool projects = o.mixing.residual && from != to;
  return {{layer, sublayer + "_norm", o.norm_first ? from : to, norm_options(o)},
          {layer, sublayer + "_skip",
           projects ? std::make_unique<Linear>(from, to, LinearOptions{false, o.init}) : nullptr},
          o.norm_first,
          o.mixing.residual,
          o.dropout};
}

std::unique_ptr<FeedForwardSublayer> make_feed_forward(Module* layer, const ModelOptions& o,
                                                       const LinearOptions& linear) {
  if (!o.mixing.feed_forward) return nullptr;
  const int64_t hidden = o.feed_forward > 0 ? o.feed_forward : 4 * o.width();
  return std::unique_ptr<FeedForwardSublayer>(new FeedForwardSublayer{
      residual_of(layer, "feed_forward", o, o.width()),
      {layer, "feed_forward", o.width(), hidden, o.activation, o.dropout, linear}});
}

}  // namespace

const MixingRule mixings::attention = {
    .name = "attention",
    .is_attention = true,
    .can_be_causal = true,
    .make = [](const ModelOptions& o, const LinearOptions& linear) -> std::unique_ptr<Mixing> {
      return make_attention(o.dim, o.heads, attention_options(o, linear));
    }};

EncoderLayer::EncoderLayer(const ModelOptions& o, int64_t depth)
    : mixing_residual_(residual_of(this, o.mixing.kind->name, o, o.dim)),
      mixing_(this, o.mixing.kind->name, o.mixing.kind->make(o, weights(o, depth))),
      feed_forward_(make_feed_forward(this, o, weights(o, depth))) {}

DecoderLayer::DecoderLayer(const ModelOptions& o, int64_t depth)
    : mixing_residual_(residual_of(this, o.mixing.kind->name, o, o.dim)),
      mixing_(this, o.mixing.kind->name, o.mixing.kind->make(o, weights(o, depth))),
      cross_attention_residual_(residual_of(this, "cross_attention", o, o.width())),
      cross_attention_(
          this, "cross_attention",
          make_attention(o.width(), o.heads,
                         attention_options(o, weights(o, depth)).across(o.memory_dim))),
      feed_forward_(make_feed_forward(this, o, weights(o, depth))) {}

// The options of the layers after the first: it may change the width.
static ModelOptions next_layer(ModelOptions o) {
  if (o.width() == o.dim) return o;
  o.dim = o.width();
  if (o.positional.kind->is_vector())  // part of the input, not of a layer
    o.positional = {.kind = &positional_encodings::none};
  return o;
}

template <class Layer>
Stack<Layer>::Stack(const ModelOptions& o, int64_t layers)
    : layers_([&] {
        const int64_t depth = layers * (Layer::sublayers - !o.mixing.feed_forward);
        std::vector<Part<std::unique_ptr<Layer>>> all;
        for (int64_t i = 0; i < layers; ++i)
          all.emplace_back(this, fmt::format("layers.{}", i),
                           std::make_unique<Layer>(i == 0 ? o : next_layer(o), depth));
        return all;
      }()),
      norm_(this, "norm",
            o.has_final_norm() ? std::make_unique<Norm>(o.width(), norm_options(o)) : nullptr) {}

template class Stack<EncoderLayer>;
template class Stack<DecoderLayer>;

}  // namespace heed::inline HEED_REAL
