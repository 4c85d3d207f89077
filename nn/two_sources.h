// An encoder-decoder that reads two sources of different kinds, such as a text and an image: tokens
// and features, with an encoder each. The decoder attends to the states of both at once (the flat
// combination of Libovický & Helcl 2017, "Attention Strategies for Multi-Source
// Sequence-to-Sequence Learning", section 3.1).
#pragma once

#include "nn/transformer.h"

namespace heed::inline HEED_REAL {

class TwoSources : public Seq2Seq {
 public:
  TwoSources(const ModelOptions& options, const ModelSizes& sizes);
  // The states of the features, which are all real, then those of the tokens: (B, T + Ts, De).
  // `source_lengths` count both.
  Tensor encode(const Inputs& inputs) const override;

 private:
  Part<InputEmbedding> features_embedding_;
  Part<Encoder> features_encoder_;
};

}  // namespace heed::inline HEED_REAL
