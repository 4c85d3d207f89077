// The keys of [model] in a config.
#include <fmt/format.h>

#include "nn/models.h"

namespace heed::inline HEED_REAL {

void ModelOptions::fields(Fields& f) {
  static constexpr const char* kinds[] = {"seq2seq", "language_model", "classifier"};
  static constexpr const char* norms[] = {"layer", "rms"};
  static constexpr const char* choices[] = {"auto", "true", "false"};
  static constexpr const char* pools[] = {"mean", "first", "learned"};
  constexpr Range probability{0, 0.99};
  f.choice("kind", kind, kinds, "encoder-decoder, decoder-only, or encoder with a pooled head");
  f.integer("layers", layers, {0, 1000}, "layers of the encoder, or of the only stack");
  f.integer("decoder_layers", decoder_layers, {0, 1000},
            "layers of seq2seq's decoder; 0: as many as the encoder's");
  f.integer("dim", dim, {1, 1 << 16}, "width of the residual stream, D");
  f.integer("encoder_dim", encoder_dim, {0, 1 << 16}, "D of seq2seq's encoder; 0: dim");
  f.integer("heads", heads, {1, 1 << 12},
            "attention heads; must divide dim, or have widths of their own: see attention.key_dim");
  f.integer("feed_forward", feed_forward, {0, 1 << 20},
            "hidden width of a block; 0: 4 · its width");
  f.choice("activation", activation, feed_forward_activation_names,
           "nonlinearity of the feed-forward network");
  f.number("dropout", dropout, probability,
           "of embeddings, hidden activations and what joins the residual stream");
  f.number("attention_dropout", attention_dropout, probability, "of attention weights");
  f.choice("norm", norm, norms, "LayerNorm or RMSNorm");
  f.number("norm_epsilon", norm_epsilon, {1e-12, 1}, "added to the variance");
  f.flag("norm_first", norm_first, "normalise what a part reads (pre-norm), not what it gives");
  f.choice("final_norm", final_norm, choices, "one more norm behind a stack; auto: as norm_first");
  f.flag("bias", bias, "linear layers and LayerNorm have a bias");
  f.flag("tie_weights", tie_weights, "logits by the transposed embedding of the target's tokens");
  f.flag("share_embeddings", share_embeddings,
         "one embedding for source and target; needs one vocabulary");
  f.choice("scale_embedding", scale_embedding, choices,
           "multiply embeddings by √dim; auto: with sinusoidal positions");
  f.choice("pool", pool, pools,
           "what the classifier's head sees of the states: their mean, the first, or what learned "
           "queries read from them");
  f.integer("pool_queries", pool_queries, {1, 1 << 12}, "learned queries of pool = \"learned\"");
  f.section("positional", positional, "how a token knows its place");
  f.section("attention", attention, "who attends to whom, and how");
  f.section("block", block, "what a layer is made of besides its feed-forward network");
  f.section("init", init, "initial weights");
}

namespace {

bool acts_in_attention(PositionalKind kind) {
  return kind == PositionalKind::rotary || kind == PositionalKind::alibi ||
         kind == PositionalKind::relative;
}

void check_positions(const ModelOptions& o) {
  const PositionalOptions& p = o.positional;
  p.validate(o.dim);
  if (o.encoder_dim > 0) p.validate(o.encoder_dim);
  check_input(
      p.combine != PositionalCombine::concat || !o.tie_weights || o.kind == ModelKind::classifier,
      "model.positional.combine = \"concat\" leaves tokens {} of the {} columns, so the "
      "embedding cannot give the logits too: set model.tie_weights = false",
      token_width(o.dim, p), o.dim);
  check_input(
      p.kind != PositionalKind::rotary || is_product(o.attention.similarity.kind),
      "model.positional.kind = \"rotary\" turns queries and keys so that their product knows "
      "how far apart they are; model.attention.similarity = \"{}\" is no product: take "
      "scaled_dot, dot, embedded_gaussian or cosine, or other positions",
      similarity_names[static_cast<int>(o.attention.similarity.kind)]);
  check_input(!acts_in_attention(p.kind) || o.block.kind == MixingKind::attention,
              "model.positional.kind: rotary, alibi and relative act inside attention, and "
              "model.block.mixing = \"{}\" has none",
              mixing_names[static_cast<int>(o.block.kind)]);
}

void check_mixing(const ModelOptions& o) {
  const MixingKind mixing = o.block.kind;
  const bool has_decoder = o.kind != ModelKind::classifier;
  const char* const name = mixing_names[static_cast<int>(mixing)];
  check_input(
      !has_decoder || (mixing != MixingKind::dense && mixing != MixingKind::graph_attention),
      "model.block.mixing = \"{}\" sees later places, which a decoder may not: it needs "
      "model.kind = \"classifier\"",
      name);
  check_input(
      mixing != MixingKind::convolution || o.block.padding != Padding::circular ||
          (!has_decoder && !o.attention.causal),
      "model.block.padding = \"circular\" lets the first place see the last, which a decoder "
      "may not: set padding = \"zero\"");
  check_input(mixing != MixingKind::convolution || o.block.kernel_size % 2 == 1 ||
                  o.kind == ModelKind::language_model || o.attention.causal,
              "model.block.kernel_size = {} must be odd: a convolution reads as many places before "
              "as after",
              o.block.kernel_size);
  check_input(
      !o.attention.causal || (mixing != MixingKind::dense && mixing != MixingKind::graph_attention),
      "model.attention.causal = true: model.block.mixing = \"{}\" sees later places", name);
  if (mixing == MixingKind::attention) return;
  const MultiHeadOptions& a = o.attention;
  check_input(a.window == 0,
              "model.attention.window = {} is a window of attention, and model.block.mixing = "
              "\"{}\" has none",
              a.window, name);
  check_input(a.axes.empty(),
              "model.attention.axes chooses where attention goes, and model.block.mixing = \"{}\" "
              "has none",
              name);
  check_input(a.graph_distances == 0,
              "model.attention.graph_distances = {} is added to the scores of attention, and "
              "model.block.mixing = \"{}\" has none to add it to",
              a.graph_distances, name);
}

void check_attention(const ModelOptions& o) {
  const MultiHeadOptions& a = o.attention;
  const bool learned = o.pool == Pool::learned && o.kind == ModelKind::classifier;
  check_input(!learned || (a.window == 0 && !a.causal),
              "model.pool = \"learned\": model.attention.{} needs queries that have a place in the "
              "sequence, and learned ones have none",
              a.causal ? "causal = true" : fmt::format("window = {}", a.window));
  const bool is_seq2seq = o.kind == ModelKind::seq2seq;
  const int64_t source_dim = is_seq2seq && o.encoder_dim > 0 ? o.encoder_dim : o.dim;
  if (o.block.kind == MixingKind::attention || learned || is_seq2seq) {
    a.validate(source_dim, o.heads, source_dim, source_dim);
    a.validate(o.dim, o.heads, o.dim, o.dim);
    if (is_seq2seq) a.validate(o.dim, o.heads, source_dim, source_dim);
  }
  if (o.block.kind == MixingKind::graph_attention)
    check_input(o.dim % o.heads == 0,
                "model.heads = {} does not divide model.dim = {}: heads of graph attention are as "
                "wide as one another; change one of the two",
                o.heads, o.dim);
  if (o.positional.kind != PositionalKind::rotary) return;
  for (const int64_t dim : {o.dim, source_dim})
    for (const int64_t width : a.widths(dim, o.heads).key)
      check_input(width % 2 == 0,
                  "model.positional.kind = \"rotary\" turns pairs of columns: a head of width {} "
                  "is odd; set model.attention.key_dim",
                  width);
}

}  // namespace

void ModelOptions::validate() const {
  const bool is_seq2seq = kind == ModelKind::seq2seq;
  check_input(
      !share_embeddings || is_seq2seq,
      "model.share_embeddings = true needs model.kind = \"seq2seq\": no other model has two");
  check_input(
      encoder_dim == 0 || is_seq2seq,
      "model.encoder_dim = {} is for model.kind = \"seq2seq\": no other model has two widths",
      encoder_dim);
  const int64_t source_dim = encoder_dim > 0 ? encoder_dim : dim;
  check_input(!share_embeddings || source_dim == dim,
              "model.share_embeddings = true needs one width, not model.encoder_dim = {} and "
              "model.dim = {}",
              encoder_dim, dim);
  check_positions(*this);
  check_mixing(*this);
  check_attention(*this);
}

}  // namespace heed::inline HEED_REAL
