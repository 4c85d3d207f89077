// The keys of a model of the Transformer. nn/forms/model_options.cpp has those of other forms.
#include "nn/transformer.h"

namespace heed::inline HEED_REAL {
namespace {

constexpr Named<Choice> choices[] = {
    {"auto", Choice::automatic}, {"true", Choice::yes}, {"false", Choice::no}};
constexpr Named<Parts::Kind> positions_of_parts[] = {{"none", Parts::Kind::none},
                                                     {"sinusoidal", Parts::Kind::sinusoidal},
                                                     {"learned", Parts::Kind::learned},
                                                     {"rotary", Parts::Kind::rotary}};

}  // namespace

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
}

void BlockOptions::fields(Fields& f) {
  width_field(f);
  layer_fields(f);
  f.section("init", init, "initial weights");
}

void ModelShape::shape_fields(Fields& f) {
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
}

void TransformerOptions::fields(Fields& f) {
  shape_fields(f);
  f.choice("positions", positions, positions_of_parts, "encoding of the positions of tokens");
  f.integer("max_length", max_length, {1, 1 << 20}, "positions in the table of learned ones");
  f.section("init", init, "initial weights");
}

}  // namespace heed::inline HEED_REAL
