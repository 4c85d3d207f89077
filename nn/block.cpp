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

LinearOptions linear_options(const BlockOptions& o, int64_t residual_depth) {
  return {.bias = o.bias, .init = o.init, .residual_depth = residual_depth};
}

NormOptions norm_options(const BlockOptions& o) {
  NormOptions norm = o.norm;
  norm.bias = norm.bias && o.bias;
  return norm;
}

int64_t hidden_width(const BlockOptions& o) {
  return o.feed_forward > 0 ? o.feed_forward : 4 * o.dim;
}

}  // namespace

Residual::Residual(Module* layer, std::string norm_name, const BlockOptions& o)
    : norm(layer, std::move(norm_name), o.dim, norm_options(o)),
      norm_first(o.norm_first),
      dropout(o.dropout) {}

EncoderLayer::EncoderLayer(const BlockOptions& o, int64_t residual_depth, const Parts& parts)
    : mixing_residual_(this, parts.mixing_name() + std::string("_norm"), o),
      mixing_(this, parts.mixing_name(), parts.mixing(o, linear_options(o, residual_depth))),
      feed_forward_residual_(this, "feed_forward_norm", o),
      feed_forward_(this, "feed_forward", o.dim, hidden_width(o), o.activation, o.dropout,
                    linear_options(o, residual_depth)) {}

DecoderLayer::DecoderLayer(const BlockOptions& o, int64_t residual_depth, const Parts& parts)
    : mixing_residual_(this, parts.mixing_name() + std::string("_norm"), o),
      mixing_(this, parts.mixing_name(), parts.mixing(o, linear_options(o, residual_depth))),
      cross_attention_residual_(this, "cross_attention_norm", o),
      cross_attention_(this, "cross_attention",
                       parts.cross_attention(o, linear_options(o, residual_depth))),
      feed_forward_residual_(this, "feed_forward_norm", o),
      feed_forward_(this, "feed_forward", o.dim, hidden_width(o), o.activation, o.dropout,
                    linear_options(o, residual_depth)) {}

template <class Layer>
Stack<Layer>::Stack(const BlockOptions& options, int64_t layers, const Parts& parts)
    : layers_([&] {
        std::vector<Part<std::unique_ptr<Layer>>> all;
        for (int64_t i = 0; i < layers; ++i)
          all.emplace_back(this, fmt::format("layers.{}", i),
                           std::make_unique<Layer>(options, Layer::sublayers * layers, parts));
        return all;
      }()),
      norm_(this, "norm",
            options.has_final_norm() ? std::make_unique<Norm>(options.dim, norm_options(options))
                                     : nullptr) {}

template class Stack<EncoderLayer>;
template class Stack<DecoderLayer>;

// ---- the parts of the Transformer

constinit const Parts transformer_parts;

std::unique_ptr<Mixing> Parts::mixing(const BlockOptions& o, const LinearOptions& linear) const {
  o.validate();
  MultiHeadAttentionOptions options{
      .causal = o.causal, .dropout = o.attention_dropout, .linear = linear};
  if (kind_ == Kind::rotary) options.rotary = RotaryOptions();
  return std::make_unique<MultiHeadAttention>(o.dim, o.heads, options);
}

std::unique_ptr<Attention> Parts::cross_attention(const BlockOptions& o,
                                                  const LinearOptions& linear) const {
  return std::make_unique<MultiHeadAttention>(
      o.dim, o.heads,
      MultiHeadAttentionOptions{
          .context_dim = o.memory_dim, .dropout = o.attention_dropout, .linear = linear});
}

std::unique_ptr<Positions> Parts::positions(int64_t dim, double std,
                                            std::span<const int64_t>) const {
  if (kind_ == Kind::sinusoidal) return std::make_unique<SinusoidalPositions>();
  if (kind_ == Kind::learned) return std::make_unique<LearnedPositions>(max_length_, dim, std);
  return std::make_unique<Positions>();
}

}  // namespace heed::inline HEED_REAL
