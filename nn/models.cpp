#include "nn/models.h"

#include <cmath>

#include "core/parallel.h"
#include "nn/module_scope.h"

namespace heed::inline HEED_REAL {
namespace {

// Standard deviation of initial embeddings: that of the initialiser if it has one, otherwise 1/√D.
double embedding_std(const ModelOptions& o, int64_t dim) {
  const bool normal = o.init.kind == InitKind::normal || o.init.kind == InitKind::gpt2;
  return normal ? o.init.std : 1 / std::sqrt(static_cast<double>(dim));
}

// The position of the first token that a decoder is called with.
int64_t first_position(const KeyValueCache* cache, bool can_cache) {
  check(!cache || can_cache, "model: its layers cannot continue from a cache");
  return cache ? cache->length() : 0;
}

}  // namespace

real embedding_scale(const ModelOptions& o, int64_t dim) {
  const bool scales = o.scale_embedding == Choice::automatic ? o.positional.kind->scales_embedding
                                                             : o.scale_embedding == Choice::yes;
  return scales ? std::sqrt(static_cast<real>(token_width(dim, o.positional))) : 1;
}

InputEmbedding::InputEmbedding(const ModelOptions& o, int64_t dim, int64_t vocabulary,
                               const ModelSizes& sizes)
    : token_(sizes.features > 0
                 ? nullptr
                 : std::make_unique<Embedding>(vocabulary, token_width(dim, o.positional),
                                               embedding_std(o, dim))),
      projection_(sizes.features > 0
                      ? std::make_unique<Linear>(sizes.features, token_width(dim, o.positional),
                                                 LinearOptions{.init = o.init})
                      : nullptr),
      position_(dim, o.positional, embedding_std(o, dim), sizes.grid),
      scale_(token_ ? embedding_scale(o, dim) : 1),
      dropout_(o.dropout) {
  if (token_) add("token", *token_);
  if (projection_) add("projection", *projection_);
  add("position", position_);
}

Tensor InputEmbedding::operator()(const Ids& ids, const Tensor& features, int64_t first) const {
  const ModuleScope here(*this);
  check(projection_ ? static_cast<bool>(features) : static_cast<bool>(ids),
        "input embedding: this model reads {}", projection_ ? "features, not tokens" : "tokens");
  Tensor x = projection_ ? (*projection_)(features) : (*token_)(ids);
  if (scale_ != 1) x = mul(x, scale_);
  return dropout(position_(x, first), dropout_);
}

Tensor Model::logits(const Inputs& in) const { return head()(head_input(in)); }

Tensor Model::loss(const Inputs& in, const Ids& targets, const LabelSmoothing& smoothing) const {
  const Tensor x = head_input(in);
  const ModuleScope here(head());
  return linear_cross_entropy(x, head().weight, head().bias, targets, smoothing);
}

namespace {

// Computes logits over the vocabulary without bias: by the embedding (V, D) if weights are tied
// (Press & Wolf 2017), otherwise by a matrix of its own.
Linear vocabulary_head(const Tensor& embedding, const ModelOptions& o) {
  if (o.tie_weights) return Linear(embedding);
  return Linear(o.dim, embedding.dim(0), {.bias = false, .init = o.init});
}

}  // namespace

Seq2Seq::Seq2Seq(const ModelOptions& o, const ModelSizes& sizes)
    : source_embedding_(o.share_embeddings
                            ? nullptr
                            : std::make_unique<InputEmbedding>(o, o.encoder_block().dim,
                                                               sizes.source_vocabulary, sizes)),
      embedding_(o, o.dim, sizes.vocabulary),
      encoder_(o.encoder_block(sizes), o.layers),
      decoder_(o.decoder_block(), o.decoder_layers ? o.decoder_layers : o.layers),
      head_(vocabulary_head(embedding_.weight(), o)) {
  if (source_embedding_) add("source_embedding", *source_embedding_);
  add("embedding", embedding_);
  add("encoder", encoder_);
  add("decoder", decoder_);
  add("head", head_);
}

Tensor Seq2Seq::encode(const Inputs& in) const {
  const InputEmbedding& embed = source_embedding_ ? *source_embedding_ : embedding_;
  return encoder_(embed(in.source, in.features),
                  SequenceContext{.mask = {.key_lengths = in.source_lengths}, .edges = in.edges});
}

Tensor Seq2Seq::decode(const Ids& input, const Tensor& memory, const Ids& source_lengths,
                       KeyValueCache* cache) const {
  const Tensor x = embedding_(input, {}, first_position(cache, can_cache()));
  const Tensor states =
      decoder_(x, SequenceContext{.cache = cache}, memory, KeepMask{.key_lengths = source_lengths});
  if (cache) cache->advance(input.dim(1));
  return states;
}

Tensor Seq2Seq::head_input(const Inputs& in) const {
  return decode(in.input, encode(in), in.source_lengths);
}

LanguageModel::LanguageModel(const ModelOptions& o, const ModelSizes& sizes)
    : embedding_(o, o.dim, sizes.vocabulary),
      decoder_(o.decoder_block(), o.layers),
      head_(vocabulary_head(embedding_.weight(), o)) {
  add("embedding", embedding_);
  add("decoder", decoder_);
  add("head", head_);
}

Tensor LanguageModel::hidden(const Ids& input, KeyValueCache* cache) const {
  const Tensor x = embedding_(input, {}, first_position(cache, can_cache()));
  const Tensor states = decoder_(x, SequenceContext{.cache = cache});
  if (cache) cache->advance(input.dim(1));
  return states;
}

Tensor LanguageModel::head_input(const Inputs& in) const { return hidden(in.input); }

namespace {

std::unique_ptr<LearnedQueries> learned_queries(const ModelOptions& o) {
  if (o.pool != Pool::learned) return nullptr;
  return std::make_unique<LearnedQueries>(o.pool_queries, o.dim, o.heads,
                                          AttentionSetup{.dropout = o.attention_dropout,
                                                         .linear = {.bias = o.bias, .init = o.init},
                                                         .form = o.attention.without_positions()});
}

}  // namespace

Classifier::Classifier(const ModelOptions& o, const ModelSizes& sizes)
    : embedding_(o, o.dim, sizes.vocabulary, sizes),
      encoder_(o.encoder_block(sizes), o.layers),
      queries_(learned_queries(o)),
      head_(o.dim * (queries_ ? o.pool_queries : 1), sizes.classes,
            {.bias = o.bias, .init = o.init}),
      pool_(o.pool) {
  add("embedding", embedding_);
  add("encoder", encoder_);
  if (queries_) add("pool", *queries_);
  add("head", head_);
}

namespace {

// The weight of each position, (B, 1, T): 1 / length of real ones for the mean, or 1 of the first.
Tensor pool_weights(const Ids& lengths, int64_t time, Pool pool) {
  Tensor weights = Tensor::zeros({lengths.size(), 1, time});
  real* to = weights.mutable_data();
  parallel_for(lengths.size(), chunk_rows(time), [&](int64_t first, int64_t last) {
    for (int64_t b = first; b < last; ++b) {
      const int64_t length = pool == Pool::first ? std::min(lengths[b], 1) : lengths[b];
      for (int64_t t = 0; t < length; ++t) to[b * time + t] = real{1} / static_cast<real>(length);
    }
  });
  return weights;
}

}  // namespace

Tensor Classifier::encode(const Inputs& in) const {
  return encoder_(embedding_(in.input, in.features),
                  SequenceContext{.mask = {.key_lengths = in.input_lengths}, .edges = in.edges});
}

Tensor Classifier::head_input(const Inputs& in) const {
  const Tensor states = encode(in);
  const ModuleScope here(head_);
  const int64_t batch = states.dim(0), time = states.dim(1), dim = states.dim(2);
  if (queries_) {
    const Tensor read = (*queries_)(states, {.key_lengths = in.input_lengths});
    return read.reshape({batch, read.dim(1) * dim});
  }
  const Tensor weights = pool_weights(in.input_lengths, time, pool_);
  return matmul(weights, states).reshape({batch, dim});
}

std::unique_ptr<Model> make_model(const ModelOptions& options, const ModelSizes& sizes) {
  options.validate();
  switch (options.kind) {
    case ModelKind::seq2seq:
      check(!options.share_embeddings || sizes.source_vocabulary == sizes.vocabulary,
            "model: one embedding for source and target needs vocabularies of one size, not {} and "
            "{} tokens",
            sizes.source_vocabulary, sizes.vocabulary);
      return std::make_unique<Seq2Seq>(options, sizes);
    case ModelKind::language_model:
      return std::make_unique<LanguageModel>(options, sizes);
    case ModelKind::classifier:
      return std::make_unique<Classifier>(options, sizes);
  }
  throw Error("model: unknown kind");
}

}  // namespace heed::inline HEED_REAL
