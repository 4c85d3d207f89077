#include "nn/models.h"

#include <cmath>

#include "core/ops.h"
#include "core/parallel.h"
#include "nn/current_part.h"

namespace heed::inline HEED_REAL {
namespace {

BlockOptions block_options(const ModelOptions& o) {
  BlockOptions block;
  block.dim = o.dim;
  block.heads = o.heads;
  block.feed_forward = o.feed_forward ? o.feed_forward : 4 * o.dim;
  block.dropout = o.dropout;
  block.attention_dropout = o.attention_dropout;
  block.activation = o.activation;
  block.norm = {o.norm, o.norm_epsilon, o.bias};
  block.norm_first = o.norm_first;
  block.final_norm = o.final_norm == Choice::automatic ? o.norm_first : o.final_norm == Choice::yes;
  block.bias = o.bias;
  block.init = o.init;
  block.mixing = o.block;
  block.attention = o.attention;
  block.positional = o.positional;
  return block;
}

BlockOptions encoder_options(const ModelOptions& o, const ModelSizes& sizes) {
  BlockOptions block = block_options(o);
  if (o.encoder_dim > 0) {
    block.dim = o.encoder_dim;
    if (o.feed_forward == 0) block.feed_forward = 4 * o.encoder_dim;
  }
  block.grid = sizes.grid;
  block.edge_features = sizes.edge_features;
  return block;
}

// A decoder sees no later place, and what it reads is tokens in a row.
BlockOptions decoder_options(const ModelOptions& o) {
  BlockOptions block = block_options(o);
  block.attention.causal = true;
  block.attention.axes.clear();
  block.attention.graph_distances = 0;
  block.memory_dim = o.encoder_dim;
  return block;
}

// Standard deviation of initial embeddings: the initialiser's own where it has one, else 1/√D.
double embedding_std(const ModelOptions& o, int64_t dim) {
  const bool normal = o.init.kind == InitKind::normal || o.init.kind == InitKind::gpt2;
  return normal ? o.init.std : 1 / std::sqrt(static_cast<double>(dim));
}

// What no example changes of who may attend to whom.
KeepMask mask_of(const BlockOptions& block) {
  KeepMask mask;
  mask.causal = block.attention.causal;
  mask.window = block.attention.window;
  return mask;
}

// How many places come before those that a decoder is given.
int64_t places_before(const KeyValueCache* cache, bool can_cache) {
  check(!cache || can_cache, "model: its layers cannot go on from a cache");
  return cache ? cache->length() : 0;
}

KeepMask only_real(const Ids& lengths, KeepMask mask = {}) {
  mask.key_lengths = lengths;
  return mask;
}

}  // namespace

InputEmbedding::InputEmbedding(const ModelOptions& o, int64_t dim, int64_t vocabulary,
                               const ModelSizes& sizes)
    : token_(sizes.features > 0
                 ? nullptr
                 : std::make_unique<Embedding>(vocabulary, token_width(dim, o.positional),
                                               embedding_std(o, dim))),
      projection_(sizes.features > 0
                      ? std::make_unique<Linear>(sizes.features, token_width(dim, o.positional),
                                                 LinearOptions{true, o.init})
                      : nullptr),
      position_(dim, o.positional, embedding_std(o, dim), sizes.grid),
      scale_(1),
      dropout_(o.dropout) {
  const bool sinusoidal = o.positional.kind == PositionalKind::sinusoidal;
  if (token_ &&
      (o.scale_embedding == Choice::yes || (o.scale_embedding == Choice::automatic && sinusoidal)))
    scale_ = std::sqrt(static_cast<real>(token_->weight.dim(1)));
  if (token_) add("token", *token_);
  if (projection_) add("projection", *projection_);
  add("position", position_);
}

Tensor InputEmbedding::operator()(const Ids& ids, const Tensor& features, int64_t first) const {
  const CurrentPart here(*this);
  check(projection_ ? static_cast<bool>(features) : static_cast<bool>(ids),
        "input embedding: this model reads {}", projection_ ? "vectors, not tokens" : "tokens");
  Tensor x = projection_ ? (*projection_)(features) : (*token_)(ids);
  if (scale_ != 1) x = mul(x, scale_);
  return dropout(position_(x, first), dropout_);
}

Tensor Model::logits(const Inputs& in) const { return head()(head_input(in)); }

Tensor Model::loss(const Inputs& in, const Ids& targets, const LabelSmoothing& smoothing) const {
  const Tensor x = head_input(in);
  const CurrentPart here(head());
  return linear_cross_entropy(x, head().weight, head().bias, targets, smoothing);
}

namespace {

// Hidden states to logits over the vocabulary: by the embedding (V, …) where weights are tied
// (Press & Wolf 2017), else by a matrix of its own; without bias.
Linear vocabulary_head(const Tensor& embedding, const ModelOptions& o) {
  if (o.tie_weights) return Linear(embedding);
  return Linear(o.dim, embedding.dim(0), {false, o.init, 0});
}

}  // namespace

Seq2Seq::Seq2Seq(const ModelOptions& o, const ModelSizes& sizes)
    : source_embedding_(o.share_embeddings
                            ? nullptr
                            : std::make_unique<InputEmbedding>(o, encoder_options(o, sizes).dim,
                                                               sizes.source_vocabulary, sizes)),
      embedding_(o, o.dim, sizes.vocabulary),
      encoder_(encoder_options(o, sizes), o.layers),
      decoder_(decoder_options(o), o.decoder_layers ? o.decoder_layers : o.layers),
      head_(vocabulary_head(embedding_.weight(), o)),
      encoder_mask_(mask_of(encoder_options(o, sizes))),
      decoder_mask_(mask_of(decoder_options(o))) {
  if (source_embedding_) add("source_embedding", *source_embedding_);
  add("embedding", embedding_);
  add("encoder", encoder_);
  add("decoder", decoder_);
  add("head", head_);
}

Tensor Seq2Seq::encode(const Inputs& in) const {
  const InputEmbedding& embed = source_embedding_ ? *source_embedding_ : embedding_;
  return encoder_(embed(in.source, in.features),
                  SequenceContext{only_real(in.source_lengths, encoder_mask_), in.edges});
}

Tensor Seq2Seq::decode(const Ids& input, const Tensor& memory, const Ids& source_lengths,
                       KeyValueCache* cache) const {
  const Tensor x = embedding_(input, {}, places_before(cache, can_cache()));
  const Tensor states =
      decoder_(x, SequenceContext{decoder_mask_, {}, cache}, memory, only_real(source_lengths));
  if (cache) cache->advance(input.dim(1));
  return states;
}

Tensor Seq2Seq::head_input(const Inputs& in) const {
  return decode(in.input, encode(in), in.source_lengths);
}

LanguageModel::LanguageModel(const ModelOptions& o, const ModelSizes& sizes)
    : embedding_(o, o.dim, sizes.vocabulary),
      decoder_(decoder_options(o), o.layers),
      head_(vocabulary_head(embedding_.weight(), o)),
      mask_(mask_of(decoder_options(o))) {
  add("embedding", embedding_);
  add("decoder", decoder_);
  add("head", head_);
}

Tensor LanguageModel::hidden(const Ids& input, KeyValueCache* cache) const {
  const Tensor x = embedding_(input, {}, places_before(cache, can_cache()));
  const Tensor states = decoder_(x, SequenceContext{mask_, {}, cache});
  if (cache) cache->advance(input.dim(1));
  return states;
}

Tensor LanguageModel::head_input(const Inputs& in) const { return hidden(in.input); }

namespace {

std::unique_ptr<LearnedQueries> learned_queries(const ModelOptions& o) {
  if (o.pool != Pool::learned) return nullptr;
  AttentionSetup setup{0, o.attention_dropout, {o.bias, o.init, 0}, o.attention};
  setup.form.axes.clear();  // of the whole grid, or graph
  setup.form.graph_distances = 0;
  return std::make_unique<LearnedQueries>(o.pool_queries, o.dim, o.heads, setup);
}

}  // namespace

Classifier::Classifier(const ModelOptions& o, const ModelSizes& sizes)
    : embedding_(o, o.dim, sizes.vocabulary, sizes),
      encoder_(encoder_options(o, sizes), o.layers),
      queries_(learned_queries(o)),
      head_(o.dim * (queries_ ? o.pool_queries : 1), sizes.classes, {o.bias, o.init, 0}),
      pool_(o.pool),
      mask_(mask_of(encoder_options(o, sizes))) {
  add("embedding", embedding_);
  add("encoder", encoder_);
  if (queries_) add("pool", *queries_);
  add("head", head_);
}

namespace {

// What each place counts for: 1 / length in the real ones for the mean, or the first place alone.
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
                  SequenceContext{only_real(in.input_lengths, mask_), in.edges});
}

Tensor Classifier::head_input(const Inputs& in) const {
  const Tensor states = encode(in);
  const CurrentPart here(head_);
  const int64_t batch = states.dim(0), time = states.dim(1), dim = states.dim(2);
  if (queries_) {
    const Tensor read = (*queries_)(states, only_real(in.input_lengths));
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
            "model: one embedding for source and target needs one vocabulary, there are {} and {} "
            "symbols",
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
