// Defines nn/block.h: the residual stream, the layers, then the construction of all.
#include "nn/block.h"

#include "core/standard_ops.h"
#include "nn/tap.h"

namespace heed::inline HEED_REAL {

template <class Sublayer>
Tensor Residual::operator()(const Tensor& x, const Sublayer& sublayer) const {
  const auto added = [&](const Tensor& z) {
    return heed::dropout(tapped(norm, Site::sublayer, sublayer(z)), dropout);
  };
  return tapped(norm, Site::stream, norm_first ? x + added(norm(x)) : norm(x + added(x)));
}

Tensor EncoderLayer::operator()(const Tensor& x, const SequenceContext& sequence) const {
  const ModuleScope here(*this);
  const Tensor y = mixing_residual_(x, [&](const Tensor& z) { return (*mixing_)(z, sequence); });
  return feed_forward_residual_(y, feed_forward_);
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

// ---- construction

namespace {

LinearOptions linear_options(const ModelOptions& o, int64_t residual_depth) {
  return {.bias = o.bias, .init = o.init, .residual_depth = residual_depth};
}

NormOptions norm_options(const ModelOptions& o) {
  NormOptions norm = o.norm;
  norm.bias = norm.bias && o.bias;
  return norm;
}

int64_t hidden_width(const ModelOptions& o) {
  return o.feed_forward > 0 ? o.feed_forward : 4 * o.dim;
}

MultiHeadAttentionOptions attention_options(const ModelOptions& o, const LinearOptions& linear) {
  MultiHeadAttentionOptions options = o.attention;
  options.dropout = o.attention_dropout;
  options.linear = linear;
  options.positional = o.positional;
  return options;
}

std::unique_ptr<Mixing> make_mixing(const ModelOptions& o, const LinearOptions& linear) {
  o.validate_stack();
  return o.mixing.kind->make(o, linear);
}

}  // namespace

const MixingRule mixings::attention = {
    .name = "attention",
    .is_attention = true,
    .can_be_causal = true,
    .make = [](const ModelOptions& o, const LinearOptions& linear) -> std::unique_ptr<Mixing> {
      return make_attention(o.dim, o.heads, attention_options(o, linear));
    }};

Residual::Residual(Module* layer, std::string norm_name, const ModelOptions& o)
    : norm(layer, std::move(norm_name), o.dim, norm_options(o)),
      norm_first(o.norm_first),
      dropout(o.dropout) {}

EncoderLayer::EncoderLayer(const ModelOptions& o, int64_t residual_depth)
    : mixing_residual_(this, o.mixing.kind->name + std::string("_norm"), o),
      mixing_(this, o.mixing.kind->name, make_mixing(o, linear_options(o, residual_depth))),
      feed_forward_residual_(this, "feed_forward_norm", o),
      feed_forward_(this, "feed_forward", o.dim, hidden_width(o), o.activation, o.dropout,
                    linear_options(o, residual_depth)) {}

DecoderLayer::DecoderLayer(const ModelOptions& o, int64_t residual_depth)
    : mixing_residual_(this, o.mixing.kind->name + std::string("_norm"), o),
      mixing_(this, o.mixing.kind->name, make_mixing(o, linear_options(o, residual_depth))),
      cross_attention_residual_(this, "cross_attention_norm", o),
      cross_attention_(
          this, "cross_attention",
          make_attention(
              o.dim, o.heads,
              attention_options(o, linear_options(o, residual_depth)).across(o.memory_dim))),
      feed_forward_residual_(this, "feed_forward_norm", o),
      feed_forward_(this, "feed_forward", o.dim, hidden_width(o), o.activation, o.dropout,
                    linear_options(o, residual_depth)) {}

template <class Layer>
Stack<Layer>::Stack(const ModelOptions& options, int64_t layers)
    : layers_([&] {
        std::vector<Part<std::unique_ptr<Layer>>> all;
        for (int64_t i = 0; i < layers; ++i)
          all.emplace_back(this, fmt::format("layers.{}", i),
                           std::make_unique<Layer>(options, Layer::sublayers * layers));
        return all;
      }()),
      norm_(this, "norm",
            options.has_final_norm() ? std::make_unique<Norm>(options.dim, norm_options(options))
                                     : nullptr) {}

template class Stack<EncoderLayer>;
template class Stack<DecoderLayer>;

}  // namespace heed::inline HEED_REAL
