#include "nn/block.h"

#include "core/ops.h"
#include "nn/current_part.h"
#include "nn/graph_attention.h"
#include "nn/gru.h"
#include "nn/time_dense.h"

namespace heed::inline HEED_REAL {

void MixingOptions::fields(Fields& f) {
  static constexpr const char* paddings[] = {"zero", "circular"};
  f.choice("mixing", kind, mixing_names,
           "what lets places exchange what they hold; the forms of [model.attention] are for "
           "attention, and for what a decoder or a pool attends with");
  f.integer("kernel_size", kernel_size, {1, 1025}, "places a convolution reads");
  f.choice("padding", padding, paddings, "what a convolution reads beyond the ends");
  f.integer("length", length, {1, 1 << 16}, "places that a dense layer over time has weights for");
}

namespace {

LinearOptions linear_options(const BlockOptions& options, int64_t residual_depth) {
  return {options.bias, options.init, residual_depth};
}

AttentionSetup self_attention(const BlockOptions& o, int64_t residual_depth) {
  return {0,           o.attention_dropout, linear_options(o, residual_depth),
          o.attention, o.positional,        o.grid};
}

// Attention to a memory: a place in one sequence says nothing about a place in the other, and edges
// join places of one alone.
AttentionSetup cross_attention(const BlockOptions& o, int64_t residual_depth) {
  AttentionSetup setup{o.memory_dim, o.attention_dropout, linear_options(o, residual_depth),
                       o.attention};
  setup.form.graph_distances = 0;
  return setup;
}

std::unique_ptr<Mixing> make_mixing(const BlockOptions& o, int64_t residual_depth) {
  const LinearOptions linear = linear_options(o, residual_depth);
  switch (o.mixing.kind) {
    case MixingKind::attention:
      return std::make_unique<MultiHeadAttention>(o.dim, o.heads,
                                                  self_attention(o, residual_depth));
    case MixingKind::graph_attention:
      return std::make_unique<GraphAttention>(o.dim, o.heads, o.edge_features, linear);
    case MixingKind::dense:
      return std::make_unique<TimeDense>(o.dim, o.mixing.length, linear);
    case MixingKind::convolution:
      return std::make_unique<Convolution>(o.dim, o.mixing.kernel_size, o.mixing.padding,
                                           o.attention.causal, linear);
    case MixingKind::gru:
      return std::make_unique<Gru>(o.dim, linear);
  }
  throw Error("block: unknown mixing");
}

FeedForward feed_forward(const BlockOptions& o, int64_t residual_depth) {
  return {o.dim, o.feed_forward, o.activation, o.dropout, linear_options(o, residual_depth)};
}

std::string mixing_name(const BlockOptions& o) {
  return mixing_names[static_cast<int>(o.mixing.kind)];
}

}  // namespace

Residual::Residual(const BlockOptions& o)
    : norm(o.dim, o.norm), norm_first(o.norm_first), dropout(o.dropout) {}

template <class Part>
Tensor Residual::operator()(const Tensor& x, const Part& part) const {
  if (norm_first) return x + heed::dropout(part(norm(x)), dropout);
  return norm(x + heed::dropout(part(x), dropout));
}

EncoderLayer::EncoderLayer(const BlockOptions& o, int64_t residual_depth)
    : around_mixing_(o),
      mixing_(make_mixing(o, residual_depth)),
      around_feed_forward_(o),
      feed_forward_(feed_forward(o, residual_depth)) {
  add(mixing_name(o) + "_norm", around_mixing_.norm);
  add(mixing_name(o), *mixing_);
  add("feed_forward_norm", around_feed_forward_.norm);
  add("feed_forward", feed_forward_);
}

Tensor EncoderLayer::operator()(const Tensor& x, const SequenceContext& around) const {
  const CurrentPart here(*this);
  const Tensor y = around_mixing_(x, [&](const Tensor& z) { return (*mixing_)(z, around); });
  return around_feed_forward_(y, feed_forward_);
}

DecoderLayer::DecoderLayer(const BlockOptions& o, int64_t residual_depth)
    : around_mixing_(o),
      mixing_(make_mixing(o, residual_depth)),
      around_cross_attention_(o),
      cross_attention_(o.dim, o.heads, cross_attention(o, residual_depth)),
      around_feed_forward_(o),
      feed_forward_(feed_forward(o, residual_depth)) {
  add(mixing_name(o) + "_norm", around_mixing_.norm);
  add(mixing_name(o), *mixing_);
  add("cross_attention_norm", around_cross_attention_.norm);
  add("cross_attention", cross_attention_);
  add("feed_forward_norm", around_feed_forward_.norm);
  add("feed_forward", feed_forward_);
}

Tensor DecoderLayer::operator()(const Tensor& x, const SequenceContext& around,
                                const Tensor& memory, const KeepMask& memory_mask) const {
  const CurrentPart here(*this);
  const Tensor y = around_mixing_(x, [&](const Tensor& z) { return (*mixing_)(z, around); });
  const Tensor w = around_cross_attention_(y, [&](const Tensor& z) {
    return cross_attention_.across(z, memory, memory_mask, around.cache);
  });
  return around_feed_forward_(w, feed_forward_);
}

template <class Layer>
Stack<Layer>::Stack(const BlockOptions& options, int64_t layers) {
  for (int64_t i = 0; i < layers; ++i) {
    layers_.push_back(std::make_unique<Layer>(options, Layer::parts * layers));
    add(fmt::format("layers.{}", i), *layers_.back());
  }
  if (!options.final_norm) return;
  norm_ = std::make_unique<Norm>(options.dim, options.norm);
  add("norm", *norm_);
}

template class Stack<EncoderLayer>;
template class Stack<DecoderLayer>;

}  // namespace heed::inline HEED_REAL
