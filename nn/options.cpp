// Defines the members fields() and validate() of the options of a Transformer. Those of other forms
// of its parts are in nn/forms.
#include "nn/options.h"

namespace heed::inline HEED_REAL {
namespace {

constexpr Named<Choice> choices[] = {
    {"auto", Choice::automatic}, {"true", Choice::yes}, {"false", Choice::no}};
constexpr Named<Parts::Kind> positions_of_parts[] = {{"none", Parts::Kind::none},
                                                     {"sinusoidal", Parts::Kind::sinusoidal},
                                                     {"learned", Parts::Kind::learned},
                                                     {"rotary", Parts::Kind::rotary}};

}  // namespace

void InitOptions::fields(Fields& f) {
  static constexpr Named<InitKind> kinds[] = {{"xavier_uniform", InitKind::xavier_uniform},
                                              {"xavier_normal", InitKind::xavier_normal},
                                              {"kaiming_uniform", InitKind::kaiming_uniform},
                                              {"kaiming_normal", InitKind::kaiming_normal},
                                              {"normal", InitKind::normal},
                                              {"gpt2", InitKind::gpt2}};
  f.choice("kind", kind, kinds, "distribution of initial weights");
  f.number("gain", gain, at_least(0), "factor on the width of xavier and kaiming");
  f.number("std", std, at_least(0), "standard deviation of normal and gpt2");
}

void InitOptions::validate() const { check_fields(*this, "init"); }

void NormOptions::fields(Fields& f) {
  static constexpr Named<NormKind> kinds[] = {{"layer", NormKind::layer}, {"rms", NormKind::rms}};
  f.choice("norm", kind, kinds, "LayerNorm or RMSNorm");
  f.number("norm_epsilon", epsilon, {1e-12, 1}, "constant added to the variance");
}

void NormOptions::validate() const { check_fields(*this, "norm"); }

void width_field(BlockOptions& o, Fields& f) {
  f.integer("dim", o.dim, {1, 1 << 16}, "width of the residual stream, D");
}

void layer_fields(BlockOptions& o, Fields& f) {
  f.integer("heads", o.heads, {1, 1 << 12},
            "attention heads; must divide dim unless attention.key_dim sets their width");
  f.integer("feed_forward", o.feed_forward, {0, 1 << 20},
            "hidden width of the feed-forward network; 0: 4 · D");
  f.choice("activation", o.activation, feed_forward_activation_names,
           "activation of the feed-forward network");
  f.number("dropout", o.dropout, dropout_range,
           "dropout of embeddings, hidden activations and outputs of sublayers");
  f.number("attention_dropout", o.attention_dropout, dropout_range, "dropout of attention weights");
  o.norm.fields(f);
  f.flag("norm_first", o.norm_first,
         "normalise the input of a sublayer (pre-norm), not its output (post-norm)");
  f.choice("final_norm", o.final_norm, choices, "norm after the last layer; auto: as norm_first");
  f.flag("bias", o.bias, "give linear layers and LayerNorm a bias");
}

void BlockOptions::fields(Fields& f) {
  width_field(*this, f);
  layer_fields(*this, f);
  f.section("init", init, "initial weights");
}

void BlockOptions::validate() const { check_fields(*this, "block"); }

void shape_fields(ModelShape& o, Fields& f) {
  f.integer("layers", o.layers, {0, 1000}, "layers of the encoder, or of the only stack");
  f.integer("decoder_layers", o.decoder_layers, {0, 1000},
            "layers of seq2seq's decoder; 0: as many as the encoder's");
  width_field(o, f);
  f.integer("encoder_dim", o.encoder_dim, {0, 1 << 16}, "D of seq2seq's encoder; 0: dim");
  layer_fields(o, f);
  f.flag("tie_weights", o.tie_weights, "compute logits by the embedding of the output's tokens");
  f.flag("share_embeddings", o.share_embeddings,
         "use one embedding for source and target; needs one vocabulary");
  f.choice("scale_embedding", o.scale_embedding, choices,
           "multiply embeddings by √dim; auto: with sinusoidal positions");
}

void TransformerOptions::fields(Fields& f) {
  shape_fields(*this, f);
  f.choice("positions", positions, positions_of_parts, "encoding of the positions of tokens");
  f.integer("max_length", max_length, {1, 1 << 20}, "positions in the table of learned ones");
  f.section("init", init, "initial weights");
}

void TransformerOptions::check_ranges() const { check_fields(*this, "model"); }

}  // namespace heed::inline HEED_REAL
