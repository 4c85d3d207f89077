// The keys of [model] in a config.
#include "nn/forms/model_options.h"

#include <fmt/format.h>

#include "nn/options.h"

namespace heed::inline HEED_REAL {
namespace {

constexpr Named<ModelKind> kinds[] = {{"seq2seq", ModelKind::seq2seq},
                                      {"language_model", ModelKind::language_model},
                                      {"classifier", ModelKind::classifier}};
constexpr Named<Pool> pools[] = {
    {"mean", Pool::mean}, {"first", Pool::first}, {"learned", Pool::learned}};

}  // namespace

void Forms::fields(Fields& f) {
  f.section("positional", positional, "encoding of positions");
  f.section("attention", attention, "form of attention");
  f.section("block", mixing, "what exchanges information between positions");
}

void FormOptions::fields(Fields& f) {
  width_field(*this, f);
  layer_fields(*this, f);
  Forms::fields(f);
  f.section("init", init, "initial weights");
}

void ModelOptions::fields(Fields& f) {
  f.choice("kind", kind, kinds, "encoder-decoder, decoder-only, or encoder with a pooled head");
  shape_fields(*this, f);
  f.choice("pool", pool, pools,
           "input of the classifier's head: the mean of the hidden states, the first, or the "
           "outputs of learned queries");
  f.integer("pool_queries", pool_queries, {1, 1 << 12}, "learned queries of pool = \"learned\"");
  Forms::fields(f);
  f.section("init", init, "initial weights");
}

std::unique_ptr<Parts> ModelOptions::parts(const ModelSizes& sizes) const {
  return std::make_unique<FormParts>(*this, sizes.grid, sizes.edge_features);
}

FormOptions ModelOptions::encoder_form(const ModelSizes& sizes) const {
  return {encoder_block(), *this, sizes.grid, sizes.edge_features};
}

FormOptions ModelOptions::decoder_form() const { return {decoder_block(), *this}; }

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
  const bool learned_pool = is_classifier && pool == Pool::learned;
  check_input(!learned_pool || (attention.window == 0 && !attention.causal),
              "`pool` = \"learned\": {} needs queries with a position in the sequence, "
              "which learned ones do not have",
              attention.causal ? "`attention.causal` = true"
                               : fmt::format("`attention.window` = {}", attention.window));
  if (is_seq2seq || is_classifier) encoder_form().validate_layer();
  if (!is_classifier) decoder_form().validate_layer();
  const int64_t source_dim = encoder_dim > 0 ? encoder_dim : dim;
  if (is_seq2seq || learned_pool) attention.validate(dim, heads, source_dim, source_dim);
}

}  // namespace heed::inline HEED_REAL
