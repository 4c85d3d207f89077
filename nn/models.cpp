#include "nn/models.h"

#include <cmath>

#include "core/ops.h"

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
  return block;
}

// Standard deviation of initial embeddings: the initialiser's own where it has one, else 1/√D.
double embedding_std(const ModelOptions& o) {
  const bool normal = o.init.kind == InitKind::normal || o.init.kind == InitKind::gpt2;
  return normal ? o.init.std : 1 / std::sqrt(static_cast<double>(o.dim));
}

KeepMask only_real(const Ids& lengths) {
  KeepMask mask;
  mask.key_lengths = lengths;
  return mask;
}

KeepMask causal() {
  KeepMask mask;
  mask.causal = true;
  return mask;
}

}  // namespace

InputEmbedding::InputEmbedding(int64_t vocabulary, const ModelOptions& o)
    : token_(vocabulary, o.dim, embedding_std(o)),
      position_(o.dim, o.positional, embedding_std(o)),
      scale_(1),
      dropout_(o.dropout) {
  const bool sinusoidal = o.positional.kind == PositionalKind::sinusoidal;
  if (o.scale_embedding == Choice::yes || (o.scale_embedding == Choice::automatic && sinusoidal))
    scale_ = std::sqrt(static_cast<real>(o.dim));
  add("token", token_);
  add("position", position_);
}

Tensor InputEmbedding::operator()(const Ids& ids) const {
  Tensor x = token_(ids);
  if (scale_ != 1) x = mul(x, scale_);
  return dropout(position_(x), dropout_);
}

Head::Head(const Tensor& embedding, const ModelOptions& options)
    : weight_(options.tie_weights ? embedding : initial_weight(embedding.shape(), options.init)) {
  add("weight", weight_);
}

Tensor Head::operator()(const Tensor& x) const { return linear(x, weight_); }

Seq2Seq::Seq2Seq(const ModelOptions& o, const ModelSizes& sizes)
    : source_embedding_(o.share_embeddings
                            ? nullptr
                            : std::make_unique<InputEmbedding>(sizes.source_vocabulary, o)),
      embedding_(sizes.vocabulary, o),
      encoder_(block_options(o), o.layers),
      decoder_(block_options(o), o.decoder_layers ? o.decoder_layers : o.layers),
      head_(embedding_.weight(), o) {
  if (source_embedding_) add("source_embedding", *source_embedding_);
  add("embedding", embedding_);
  add("encoder", encoder_);
  add("decoder", decoder_);
  add("head", head_);
}

Tensor Seq2Seq::encode(const Ids& source, const Ids& source_lengths) const {
  const InputEmbedding& embed = source_embedding_ ? *source_embedding_ : embedding_;
  return encoder_(embed(source), only_real(source_lengths));
}

Tensor Seq2Seq::decode(const Ids& input, const Tensor& memory, const Ids& source_lengths) const {
  return decoder_(embedding_(input), memory, causal(), only_real(source_lengths));
}

Tensor Seq2Seq::logits(const Inputs& in) const {
  return head_(decode(in.input, encode(in.source, in.source_lengths), in.source_lengths));
}

LanguageModel::LanguageModel(const ModelOptions& o, const ModelSizes& sizes)
    : embedding_(sizes.vocabulary, o),
      decoder_(block_options(o), o.layers),
      head_(embedding_.weight(), o) {
  add("embedding", embedding_);
  add("decoder", decoder_);
  add("head", head_);
}

Tensor LanguageModel::hidden(const Ids& input) const {
  return decoder_(embedding_(input), causal());
}

Tensor LanguageModel::logits(const Inputs& in) const { return head_(hidden(in.input)); }

Classifier::Classifier(const ModelOptions& o, const ModelSizes& sizes)
    : embedding_(sizes.vocabulary, o),
      encoder_(block_options(o), o.layers),
      head_(o.dim, sizes.classes, {o.bias, o.init, 0}),
      pool_(o.pool) {
  add("embedding", embedding_);
  add("encoder", encoder_);
  add("head", head_);
}

namespace {

// What each place counts for: 1 / length in the real ones for the mean, or the first place alone.
Tensor pool_weights(const Ids& lengths, int64_t time, Pool pool) {
  Tensor weights = Tensor::zeros({lengths.size(), 1, time});
  real* to = weights.mutable_data();
  for (int64_t b = 0; b < lengths.size(); ++b) {
    const int64_t length = pool == Pool::first ? std::min(lengths[b], 1) : lengths[b];
    for (int64_t t = 0; t < length; ++t) to[b * time + t] = real{1} / static_cast<real>(length);
  }
  return weights;
}

}  // namespace

Tensor Classifier::logits(const Inputs& in) const {
  const Tensor states = encoder_(embedding_(in.input), only_real(in.input_lengths));
  const Tensor weights = pool_weights(in.input_lengths, in.input.dim(1), pool_);
  return head_(matmul(weights, states).reshape({states.dim(0), states.dim(2)}));
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
