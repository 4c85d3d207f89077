// Defines nn/transformer.h: the widths of embeddings, the input, the loss, then the two models.
#include "nn/transformer.h"

#include <cmath>

#include "nn/tap.h"

namespace heed::inline HEED_REAL {

// Standard deviation of initial embeddings: that of the initialiser if it has one, otherwise 1/√D.
// 1/√D keeps the logits of tied weights of order 1, and the factor √D of embedding_scale() brings
// the input of the first layer back to variance 1.
static double embedding_std(const ModelOptions& o) {
  const bool normal = o.init.kind == InitKind::normal || o.init.kind == InitKind::gpt2;
  return normal ? o.init.std : 1 / std::sqrt(static_cast<double>(o.dim));
}

// The position of the first token that a decoder is called with.
static int64_t first_position(const Past* past, bool can_cache) {
  check(!past || can_cache, "model: its layers cannot continue from a cache");
  return past ? past->length() : 0;
}

ModelOptions ModelOptions::encoder_stack(const ModelSizes& sizes) const {
  check_ranges();
  ModelOptions stack = *this;
  if (encoder_dim > 0) stack.dim = encoder_dim;
  stack.attention.grid = sizes.grid;
  stack.edge_features = sizes.edge_features;
  return stack;
}

ModelOptions ModelOptions::decoder_stack() const {
  check_ranges();
  ModelOptions stack = *this;
  stack.memory_dim = attention.output_dim > 0 ? attention.output_dim : encoder_dim;
  stack.attention.causal = true;
  if (!mixing.kind->is_attention) return stack;
  stack.attention.axes.clear();
  stack.attention.graph_distances = 0;
  return stack;
}

real embedding_scale(const ModelOptions& o) {
  const bool scales = o.scale_embedding == Choice::automatic ? o.positional.kind->scales_embedding
                                                             : o.scale_embedding == Choice::yes;
  return scales ? std::sqrt(static_cast<real>(o.dim - o.positional.dim)) : 1;
}

InputEmbedding::InputEmbedding(const ModelOptions& o, int64_t vocabulary, int64_t features)
    : token_(this, "token",
             (o.check_ranges(), features > 0
                                    ? nullptr
                                    : std::make_unique<Embedding>(
                                          vocabulary, o.dim - o.positional.dim, embedding_std(o)))),
      projection_(this, "projection",
                  features > 0 ? std::make_unique<Linear>(features, o.dim - o.positional.dim,
                                                          LinearOptions{.init = o.init})
                               : nullptr),
      position_(this, "position",
                make_positions(o.dim, o.positional, embedding_std(o), o.attention.grid)),
      scale_(token_ ? embedding_scale(o) : 1),
      dropout_(o.dropout) {}

Tensor InputEmbedding::operator()(const Ids& ids, const Tensor& features, int64_t first,
                                  const Ids& at) const {
  const ModuleScope here(*this);
  check(projection_ ? static_cast<bool>(features) : static_cast<bool>(ids),
        "input embedding: this model reads {}", projection_ ? "features, not tokens" : "tokens");
  Tensor x = projection_ ? (*projection_)(features) : (*token_)(ids);
  if (scale_ != 1) x = mul(x, scale_);
  x = tapped(*this, Site::tokens, std::move(x));
  return dropout(tapped(*this, Site::embedded, (*position_)(x, first, at)), dropout_);
}

Tensor Model::logits(const Inputs& in) const {
  return tapped(head(), Site::logits, head()(head_input(in)));
}

Tensor Model::loss(const Inputs& in, const Ids& targets, Reduction reduction,
                   const LabelSmoothing& smoothing) const {
  if (Tap::wanted(head(), Site::logits))
    return cross_entropy(logits(in), targets, reduction, smoothing);
  const Tensor x = head_input(in);
  const ModuleScope here(head());
  return linear_cross_entropy(x, head().weight, head().bias, targets, reduction, smoothing);
}

Tensor Model::decode(const Ids&, const Tensor&, const Ids&, Past*) const {
  throw Error("model: a classifier predicts no next token");
}

// Computes logits over the vocabulary without bias: by the embedding (vocab, D) if weights are tied
// (Press & Wolf 2017), otherwise by a matrix of its own.
static std::unique_ptr<Linear> vocabulary_head(const Tensor& embedding, const ModelOptions& o) {
  if (o.tie_weights) return std::make_unique<Linear>(embedding);
  return std::make_unique<Linear>(o.width(), embedding.dim(0),
                                  LinearOptions{.bias = false, .init = o.init});
}

Seq2Seq::Seq2Seq(const ModelOptions& o, const ModelSizes& sizes)
    : source_embedding_(this, "source_embedding",
                        o.share_embeddings
                            ? nullptr
                            : std::make_unique<InputEmbedding>(
                                  o.encoder_stack(sizes), sizes.source_vocabulary, sizes.features)),
      embedding_(this, "embedding", o.decoder_stack(), sizes.vocabulary),
      encoder_(this, "encoder", o.encoder_stack(sizes), o.layers),
      decoder_(this, "decoder", o.decoder_stack(), o.decoder_layers ? o.decoder_layers : o.layers),
      head_(this, "head", vocabulary_head(embedding_.weight(), o)) {}

Tensor Seq2Seq::encode(const Inputs& in) const {
  const InputEmbedding& embed = source_embedding_ ? std::as_const(*source_embedding_) : embedding_;
  return encoder_(embed(in.source, in.features, 0, in.positions),
                  SequenceContext{.mask = {.key_lengths = in.source_lengths}, .edges = &in.edges});
}

Tensor Seq2Seq::decode(const Ids& input, const Tensor& memory, const Ids& source_lengths,
                       Past* past) const {
  const Tensor x = embedding_(input, {}, first_position(past, can_cache()));
  const Tensor states =
      decoder_(x, SequenceContext{.past = past}, memory, KeepMask{.key_lengths = source_lengths});
  if (past) past->advance(input.dim(1));
  return states;
}

Tensor Seq2Seq::head_input(const Inputs& in) const {
  return decode(in.input, encode(in), in.source_lengths);
}

LanguageModel::LanguageModel(const ModelOptions& o, const ModelSizes& sizes)
    : embedding_(this, "embedding", o.decoder_stack(), sizes.vocabulary),
      decoder_(this, "decoder", o.decoder_stack(), o.layers),
      head_(this, "head", vocabulary_head(embedding_.weight(), o)) {}

Tensor LanguageModel::hidden(const Ids& input, Past* past, const Ids& at) const {
  const Tensor x = embedding_(input, {}, first_position(past, can_cache()), at);
  const Tensor states = decoder_(x, SequenceContext{.past = past});
  if (past) past->advance(input.dim(1));
  return states;
}

}  // namespace heed::inline HEED_REAL
