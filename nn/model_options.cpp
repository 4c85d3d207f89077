// The keys of [model] in a config.
#include <fmt/format.h>

#include "nn/models.h"

namespace heed::inline HEED_REAL {
namespace {

constexpr Named<ModelKind> kinds[] = {{"seq2seq", ModelKind::seq2seq},
                                      {"language_model", ModelKind::language_model},
                                      {"classifier", ModelKind::classifier}};
constexpr Named<Choice> choices[] = {
    {"auto", Choice::automatic}, {"true", Choice::yes}, {"false", Choice::no}};
constexpr Named<Padding> paddings[] = {{"zero", Padding::zero}, {"circular", Padding::circular}};
constexpr Named<Pool> pools[] = {
    {"mean", Pool::mean}, {"first", Pool::first}, {"learned", Pool::learned}};

}  // namespace

void MixingOptions::fields(Fields& f) {
  f.choice("mixing", kind, mixings::all,
           "how positions exchange information; [model.attention] then applies to attention only: "
           "to a decoder's cross-attention and a pool of learned queries");
  f.integer("kernel_size", kernel_size, {1, 1025}, "positions that a convolution reads");
  f.choice("padding", padding, paddings, "what a convolution reads beyond the ends");
  f.integer("length", length, {1, 1 << 16}, "longest sequence of a dense layer over time");
}

void BlockOptions::width_field(Fields& f) {
  f.integer("dim", dim, {1, 1 << 16}, "width of the residual stream, D");
}

void BlockOptions::layer_fields(Fields& f) {
  f.integer("heads", heads, {1, 1 << 12},
            "attention heads; must divide dim unless attention.key_dim sets their width");
  f.integer("feed_forward", feed_forward, {0, 1 << 20},
            "hidden width of the feed-forward network; 0: 4 · D");
  f.choice("activation", activation, feed_forward_activation_names,
           "activation of the feed-forward network");
  f.number("dropout", dropout, dropout_range,
           "dropout of embeddings, hidden activations and outputs of sublayers");
  f.number("attention_dropout", attention_dropout, dropout_range, "dropout of attention weights");
  norm.fields(f);
  f.flag("norm_first", norm_first,
         "normalise the input of a sublayer (pre-norm), not its output (post-norm)");
  f.choice("final_norm", final_norm, choices, "norm after the last layer; auto: as norm_first");
  f.flag("bias", bias, "give linear layers and LayerNorm a bias");
  f.section("positional", positional, "encoding of positions");
  f.section("attention", attention, "form of attention");
  f.section("block", mixing, "what exchanges information between positions");
  f.section("init", init, "initial weights");
}

void BlockOptions::fields(Fields& f) {
  width_field(f);
  layer_fields(f);
}

void ModelOptions::fields(Fields& f) {
  f.choice("kind", kind, kinds, "encoder-decoder, decoder-only, or encoder with a pooled head");
  f.integer("layers", layers, {0, 1000}, "layers of the encoder, or of the only stack");
  f.integer("decoder_layers", decoder_layers, {0, 1000},
            "layers of seq2seq's decoder; 0: as many as the encoder's");
  width_field(f);
  f.integer("encoder_dim", encoder_dim, {0, 1 << 16}, "D of seq2seq's encoder; 0: dim");
  layer_fields(f);
  f.flag("tie_weights", tie_weights, "compute logits by the embedding of the output's tokens");
  f.flag("share_embeddings", share_embeddings,
         "use one embedding for source and target; needs one vocabulary");
  f.choice("scale_embedding", scale_embedding, choices,
           "multiply embeddings by √dim; auto: with sinusoidal positions");
  f.choice("pool", pool, pools,
           "input of the classifier's head: the mean of the hidden states, the first, or the "
           "outputs of learned queries");
  f.integer("pool_queries", pool_queries, {1, 1 << 12}, "learned queries of pool = \"learned\"");
}

BlockOptions ModelOptions::encoder_block(const ModelSizes& sizes) const {
  BlockOptions block = *this;
  if (encoder_dim > 0) block.dim = encoder_dim;
  block.grid = sizes.grid;
  block.edge_features = sizes.edge_features;
  return block;
}

BlockOptions ModelOptions::decoder_block() const {
  BlockOptions block = *this;
  block.attention.causal = true;
  if (mixing.kind->is_attention) {  // a decoder reads a sequence of tokens
    block.attention.axes.clear();
    block.attention.graph_distances = 0;
  }
  block.memory_dim = encoder_dim;
  return block;
}

void ModelOptions::validate() const {
  check_fields(*this, "model");
  const bool is_seq2seq = kind == ModelKind::seq2seq, is_classifier = kind == ModelKind::classifier;
  check_keys(!share_embeddings || is_seq2seq, {"model.share_embeddings", "model.kind"},
             "model.share_embeddings = true needs model.kind = \"seq2seq\": other models have one "
             "embedding");
  check_keys(encoder_dim == 0 || is_seq2seq, {"model.encoder_dim", "model.kind"},
             "model.encoder_dim = {} needs model.kind = \"seq2seq\": other models have one width",
             encoder_dim);
  check_keys(!share_embeddings || encoder_dim == 0 || encoder_dim == dim,
             {"model.share_embeddings", "model.encoder_dim", "model.dim"},
             "model.share_embeddings = true needs one width, not model.encoder_dim = {} and "
             "model.dim = {}",
             encoder_dim, dim);
  check_keys(positional.combine != PositionalCombine::concat || !tie_weights || is_classifier,
             {"model.positional.combine", "model.tie_weights"},
             "model.positional.combine = \"concat\" leaves tokens {} of the {} columns, so that "
             "their embedding cannot compute the logits: set model.tie_weights = false",
             token_width(dim, positional), dim);
  const bool learned_pool = is_classifier && pool == Pool::learned;
  check_keys(!learned_pool || (attention.window == 0 && !attention.causal),
             {"model.pool", "model.attention.causal", "model.attention.window"},
             "model.pool = \"learned\": model.attention.{} needs queries with a position in the "
             "sequence, which learned ones do not have",
             attention.causal ? "causal = true" : fmt::format("window = {}", attention.window));
  if (is_seq2seq || is_classifier) encoder_block().validate_layer();
  if (!is_classifier) decoder_block().validate_layer();
  const int64_t source_dim = encoder_dim > 0 ? encoder_dim : dim;
  if (is_seq2seq || learned_pool) attention.validate(dim, heads, source_dim, source_dim);
}

}  // namespace heed::inline HEED_REAL
