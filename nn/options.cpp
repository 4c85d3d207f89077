// Defines the members fields() and validate() of the options of a model.
#include "nn/options.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/joined.h"
#include "core/model_kind_names.h"
#include "nn/classifier.h"
#include "nn/forms/attention.h"
#include "nn/forms/graph_attention.h"
#include "nn/forms/mixings.h"

namespace heed::inline HEED_REAL {

constexpr Named<Choice> choices[] = {
    {"auto", Choice::automatic}, {"true", Choice::yes}, {"false", Choice::no}};
constexpr Named<Pool> pools[] = {{"mean", Pool::mean},
                                 {"first", Pool::first},
                                 {"learned", Pool::learned},
                                 {"queries", Pool::queries},
                                 {"none", Pool::none}};

static bool pools_by_queries(const ModelOptions& o) {
  return o.kind == ModelKind::classifier && has_queries(o.pool);
}

bool has_attention(const ModelOptions& o) {
  const MixingRule& mixing = *o.mixing.kind;
  const bool across = o.kind == ModelKind::seq2seq && std::max(o.layers, o.decoder_layers) > 0;
  return across || pools_by_queries(o) ||
         (o.layers > 0 &&
          (mixing.is_attention || mixing.attends_across || &mixing == &mixings::graph_attention));
}

void InitOptions::fields(Fields& f) {
  static constexpr Named<InitKind> kinds[] = {{"xavier_uniform", InitKind::xavier_uniform},
                                              {"xavier_normal", InitKind::xavier_normal},
                                              {"kaiming_uniform", InitKind::kaiming_uniform},
                                              {"kaiming_normal", InitKind::kaiming_normal},
                                              {"normal", InitKind::normal},
                                              {"gpt2", InitKind::gpt2}};
  f.choice("kind", kind, kinds, "distribution of initial weights");
  const bool is_normal = kind == InitKind::normal || kind == InitKind::gpt2;
  f.number("gain", gain, at_least(0), "factor on the width of xavier and kaiming").when(!is_normal);
  f.number("std", std, at_least(0), "standard deviation of normal and gpt2").when(is_normal);
}

void InitOptions::validate() const { check_fields(*this, "init"); }

void NormOptions::fields(Fields& f) {
  static constexpr Named<NormKind> kinds[] = {
      {"layer", NormKind::layer}, {"rms", NormKind::rms}, {"none", NormKind::none}};
  f.choice("norm", kind, kinds, "LayerNorm, RMSNorm, or no norm");
  f.number("norm_epsilon", epsilon, {1e-12, 1}, "constant added to the variance")
      .when(kind != NormKind::none);
}

void NormOptions::validate() const { check_fields(*this, "norm"); }

void ModelOptions::fields(Fields& f) {
  const bool attends = has_attention(*this);
  const bool only_on_edges = mixing.kind == &mixings::graph_attention &&
                             kind != ModelKind::seq2seq && !pools_by_queries(*this);
  f.choice("kind", kind, model_kind_names,
           "encoder-decoder, decoder-only, or encoder with a pooled head");
  f.integer("layers", layers, {0, 1000}, "layers of the encoder, or of the only stack");
  f.integer("decoder_layers", decoder_layers, {0, 1000},
            "layers of seq2seq's decoder; 0: as many as the encoder's")
      .when(kind == ModelKind::seq2seq);
  f.integer("dim", dim, {1, 1 << 16}, "width of the residual stream, D");
  f.integer("encoder_dim", encoder_dim, {0, 1 << 16}, "D of seq2seq's encoder; 0: dim");
  f.integer("heads", heads, {1, 1 << 12},
            "attention heads; must divide dim unless attention.key_dim sets their width")
      .when(attends);
  f.integer("feed_forward", feed_forward, {0, 1 << 20},
            "hidden width of the feed-forward network; 0: 4 · D")
      .when(mixing.feed_forward);
  f.choice("activation", activation, feed_forward_activation_names,
           "activation of the feed-forward network")
      .when(mixing.feed_forward);
  f.number("dropout", dropout, dropout_range,
           "dropout of embeddings, hidden activations and outputs of sublayers");
  f.number("attention_dropout", attention_dropout, dropout_range, "dropout of attention weights")
      .when(attends);
  norm.fields(f);
  f.flag("norm_first", norm_first,
         "normalise the input of a sublayer (pre-norm), not its output (post-norm)")
      .when(norm.kind != NormKind::none);
  f.choice("final_norm", final_norm, choices, "norm after the last layer; auto: as norm_first")
      .when(norm.kind != NormKind::none);
  f.flag("bias", bias, "give linear layers and LayerNorm a bias");
  f.flag("tie_weights", tie_weights, "compute logits by the embedding of the output's tokens")
      .when(kind != ModelKind::classifier);
  f.flag("share_embeddings", share_embeddings,
         "use one embedding for source and target; needs one vocabulary");
  f.choice(
      "scale_embedding", scale_embedding, choices,
      "multiply embeddings by the root of their width, dim less that of concatenated positions; "
      "auto: with sinusoidal positions");
  f.choice(
       "pool", pool, pools,
       "input of the classifier's head: the mean of the hidden states, the first, the outputs of "
       "learned queries together, each of these (queries), for as many targets, or (none) each "
       "hidden state, for a target at every position")
      .when(kind == ModelKind::classifier);
  f.integer("pool_queries", pool_queries, {1, 1 << 12}, "learned queries of the pool")
      .when(pools_by_queries(*this));
  f.section("positional", positional, "encoding of positions");
  f.section("attention", attention, "form of attention", [&](std::string_view key) {
    if (key == "causal") return kind != ModelKind::language_model;  // a GRU can be causal
    return attends && (!only_on_edges || GraphAttention::honours(key));
  });
  f.section("block", mixing, "what a layer computes");
  f.section("init", init, "initial weights");
}

void ModelOptions::check_ranges() const { check_fields(*this, "model"); }

void ModelOptions::validate_stack() const {
  check_ranges();
  const PositionalRule& position = *positional.kind;
  const SimilarityRule& similarity = *attention.similarity;
  const char* const name = mixing.kind->name;
  positional.validate(dim);
  check_input(!position.acts_in_attention() || mixing.kind->is_attention,
              "`positional.kind` = \"{}\" acts inside attention between positions, and `mixing` = "
              "\"{}\" has none",
              position.name, name);
  check_input(
      !position.rotate || similarity.is_product,
      "`positional.kind` = \"{}\" makes products of queries and keys depend on their distance, and "
      "`attention.similarity` = \"{}\" is not such a product: use one of {}, or other positions",
      position.name, similarity.name, names_where(similarities::all, &SimilarityRule::is_product));
  check_input(!attention.causal || mixing.kind->can_be_causal,
              "`mixing` = \"{}\" reads later positions, which a decoder must not, nor a "
              "layer with `attention.causal` = true; it needs `kind` = \"classifier\"",
              name);
  check_input(final_norm != Choice::yes || norm.kind != NormKind::none,
              "`final_norm` = true needs a norm, and `norm` = \"none\" has none");
  if (mixing.kind->is_attention) validate_attention(attention, dim, heads);
  if (mixing.kind->validate) mixing.kind->validate(*this);
  if (position.rotate)
    for (const int64_t width : head_widths(attention, dim, heads).key)
      check_input(width % 2 == 0,
                  "`positional.kind` = \"{}\" rotates pairs of columns: a head of width {} is odd; "
                  "set `attention.key_dim`",
                  position.name, width);
  if (mixing.kind->is_attention) return;
  const auto check_unset = [name](bool is_unset, const char* key, const std::string& value) {
    check_input(is_unset,
                "`attention.{}` = {} applies to attention between positions, and `mixing` = \"{}\" "
                "has none",
                key, value, name);
  };
  const auto check_zero = [&](const char* key, int64_t value) {
    check_unset(value == 0, key, std::to_string(value));
  };
  check_zero("window", attention.window);
  check_zero("graph_distances", attention.graph_distances);
  check_zero("output_dim", attention.output_dim);
  check_unset(attention.axes.empty(), "axes", "[" + joined(attention.axes) + "]");
  check_unset(attention.over == Over::positions, "over", "\"features\"");
}

void ModelOptions::validate() const {
  check_ranges();
  const bool is_seq2seq = kind == ModelKind::seq2seq, is_classifier = kind == ModelKind::classifier;
  check_input(
      !share_embeddings || is_seq2seq,
      "`share_embeddings` = true needs `kind` = \"seq2seq\": other models have one embedding");
  check_input(encoder_dim == 0 || is_seq2seq,
              "`encoder_dim` = {} needs `kind` = \"seq2seq\": other models have one width",
              encoder_dim);
  check_input(!share_embeddings || encoder_dim == 0 || encoder_dim == dim,
              "`share_embeddings` = true needs one width, not `encoder_dim` = {} and `dim` = {}",
              encoder_dim, dim);
  check_input(positional.combine != PositionalCombine::concat || !tie_weights || is_classifier,
              "`positional.combine` = \"concat\" leaves tokens {} of the {} columns, so that their "
              "embedding cannot compute the logits: set `tie_weights` = false",
              token_width(dim, positional), dim);
  check_input(
      width() == dim || !tie_weights || is_classifier,
      "`attention.output_dim` = {} gives the head vectors of another width than the embedding "
      "of `dim` = {}: set `tie_weights` = false",
      width(), dim);
  check_input(width() == dim || layers > 0,
              "`attention.output_dim` = {} needs a layer: set `layers`, or leave it at 0", width());
  const bool learned_pool = pools_by_queries(*this);
  check_input(!learned_pool || (attention.window == 0 && !attention.causal),
              "`pool` = \"{}\": {} needs queries with a position in the sequence, which learned "
              "ones do not have",
              name_of(pools, pool),
              attention.causal ? "`attention.causal` = true"
                               : fmt::format("`attention.window` = {}", attention.window));
  if (is_seq2seq || is_classifier) encoder_stack().validate_stack();
  if (!is_classifier) decoder_stack().validate_stack();
  if (is_seq2seq || learned_pool)
    validate_attention(attention.across(decoder_stack().memory_dim), width(), heads);
}

}  // namespace heed::inline HEED_REAL
