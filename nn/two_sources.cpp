#include "nn/two_sources.h"

#include "core/more_ops.h"

namespace heed::inline HEED_REAL {

static ModelOptions without_axes(ModelOptions o) {  // of the grid, which the tokens have not
  o.attention.axes.clear();
  return o;
}

static ModelSizes of_tokens(ModelSizes sizes) {
  sizes.features = 0;
  sizes.grid.clear();
  return sizes;
}

TwoSources::TwoSources(const ModelOptions& o, const ModelSizes& sizes)
    : Seq2Seq(without_axes(o), of_tokens(sizes)),
      features_embedding_(this, "features_embedding", o.encoder_stack(sizes), 0, sizes.features),
      features_encoder_(this, "features_encoder", o.encoder_stack(sizes), o.layers) {}

Tensor TwoSources::encode(const Inputs& in) const {
  const Tensor features =
      features_encoder_(features_embedding_({}, in.features), SequenceContext{});
  Inputs tokens{.source = in.source, .source_lengths = Ids::empty(in.source_lengths.shape())};
  for (int64_t b = 0; b < in.source_lengths.size() && !scope().shapes_only; ++b)
    tokens.source_lengths.mutable_data()[b] =
        in.source_lengths[b] - static_cast<int32_t>(features.dim(1));
  return concat({features, Seq2Seq::encode(tokens)}, 1);
}

}  // namespace heed::inline HEED_REAL
