// The keys of [model] in a config.
#include "nn/models.h"

namespace heed::inline HEED_REAL {

void ModelOptions::fields(Fields& f) {
  static constexpr const char* kinds[] = {"seq2seq", "language_model", "classifier"};
  static constexpr const char* activations[] = {"relu", "gelu", "gelu_tanh", "silu", "swiglu"};
  static constexpr const char* norms[] = {"layer", "rms"};
  static constexpr const char* choices[] = {"auto", "true", "false"};
  static constexpr const char* pools[] = {"mean", "first"};
  constexpr Range probability{0, 0.99};
  f.choice("kind", kind, kinds, "encoder-decoder, decoder-only, or encoder with a pooled head");
  f.integer("layers", layers, {0, 1000}, "layers of the encoder, or of the only stack");
  f.integer("decoder_layers", decoder_layers, {0, 1000},
            "layers of seq2seq's decoder; 0: as many as the encoder's");
  f.integer("dim", dim, {1, 1 << 16}, "width of the residual stream, D");
  f.integer("heads", heads, {1, 1 << 12}, "attention heads; must divide dim");
  f.integer("feed_forward", feed_forward, {0, 1 << 20}, "hidden width of a block; 0: 4 · dim");
  f.choice("activation", activation, activations, "nonlinearity of the feed-forward network");
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
  f.choice("pool", pool, pools, "what the classifier's head sees of the states");
  f.section("positional", positional, "how a token knows its place");
  f.section("init", init, "initial weights");
}

void ModelOptions::validate() const {
  check_input(dim % heads == 0, "model.heads = {} does not divide model.dim = {}", heads, dim);
  check_input(
      !share_embeddings || kind == ModelKind::seq2seq,
      "model.share_embeddings = true needs model.kind = \"seq2seq\": no other model has two");
}

}  // namespace heed::inline HEED_REAL
