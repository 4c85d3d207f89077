#include "nn/block.h"

#include "core/ops.h"

namespace heed::inline HEED_REAL {
namespace {

LinearOptions linear_options(const BlockOptions& options, int64_t residual_depth) {
  return {options.bias, options.init, residual_depth};
}

AttentionSetup attention_setup(const BlockOptions& options, int64_t residual_depth) {
  return {0, options.attention_dropout, linear_options(options, residual_depth)};
}

// One part of a layer, joined to the residual stream.
template <class Part>
Tensor joined(const Tensor& x, const Norm& norm, bool norm_first, double p, const Part& part) {
  if (norm_first) return x + dropout(part(norm(x)), p);
  return norm(x + dropout(part(x), p));
}

}  // namespace

EncoderLayer::EncoderLayer(const BlockOptions& o, int64_t residual_depth)
    : attention_norm_(o.dim, o.norm),
      attention_(o.dim, o.heads, attention_setup(o, residual_depth)),
      feed_forward_norm_(o.dim, o.norm),
      feed_forward_(o.dim, o.feed_forward, o.activation, o.dropout,
                    linear_options(o, residual_depth)),
      norm_first_(o.norm_first),
      dropout_(o.dropout) {
  add("attention_norm", attention_norm_);
  add("attention", attention_);
  add("feed_forward_norm", feed_forward_norm_);
  add("feed_forward", feed_forward_);
}

Tensor EncoderLayer::operator()(const Tensor& x, const KeepMask& mask) const {
  const Tensor y = joined(x, attention_norm_, norm_first_, dropout_,
                          [&](const Tensor& z) { return attention_(z, z, mask); });
  return joined(y, feed_forward_norm_, norm_first_, dropout_, feed_forward_);
}

DecoderLayer::DecoderLayer(const BlockOptions& o, int64_t residual_depth)
    : attention_norm_(o.dim, o.norm),
      attention_(o.dim, o.heads, attention_setup(o, residual_depth)),
      cross_attention_norm_(o.dim, o.norm),
      cross_attention_(o.dim, o.heads, attention_setup(o, residual_depth)),
      feed_forward_norm_(o.dim, o.norm),
      feed_forward_(o.dim, o.feed_forward, o.activation, o.dropout,
                    linear_options(o, residual_depth)),
      norm_first_(o.norm_first),
      dropout_(o.dropout) {
  add("attention_norm", attention_norm_);
  add("attention", attention_);
  add("cross_attention_norm", cross_attention_norm_);
  add("cross_attention", cross_attention_);
  add("feed_forward_norm", feed_forward_norm_);
  add("feed_forward", feed_forward_);
}

Tensor DecoderLayer::operator()(const Tensor& x, const Tensor& memory, const KeepMask& mask,
                                const KeepMask& memory_mask) const {
  const Tensor y = joined(x, attention_norm_, norm_first_, dropout_,
                          [&](const Tensor& z) { return attention_(z, z, mask); });
  const Tensor w = joined(y, cross_attention_norm_, norm_first_, dropout_, [&](const Tensor& z) {
    return cross_attention_(z, memory, memory_mask);
  });
  return joined(w, feed_forward_norm_, norm_first_, dropout_, feed_forward_);
}

Encoder::Encoder(const BlockOptions& options, int64_t layers) {
  for (int64_t i = 0; i < layers; ++i) {
    layers_.push_back(std::make_unique<EncoderLayer>(options, 2 * layers));
    add(fmt::format("layers.{}", i), *layers_.back());
  }
  if (!options.final_norm) return;
  norm_ = std::make_unique<Norm>(options.dim, options.norm);
  add("norm", *norm_);
}

Tensor Encoder::operator()(Tensor x, const KeepMask& mask) const {
  for (const auto& layer : layers_) x = (*layer)(x, mask);
  return norm_ ? (*norm_)(x) : x;
}

Decoder::Decoder(const BlockOptions& options, int64_t layers) {
  for (int64_t i = 0; i < layers; ++i) {
    layers_.push_back(std::make_unique<DecoderLayer>(options, 3 * layers));
    add(fmt::format("layers.{}", i), *layers_.back());
  }
  if (!options.final_norm) return;
  norm_ = std::make_unique<Norm>(options.dim, options.norm);
  add("norm", *norm_);
}

Tensor Decoder::operator()(Tensor x, const Tensor& memory, const KeepMask& mask,
                           const KeepMask& memory_mask) const {
  for (const auto& layer : layers_) x = (*layer)(x, memory, mask, memory_mask);
  return norm_ ? (*norm_)(x) : x;
}

}  // namespace heed::inline HEED_REAL
