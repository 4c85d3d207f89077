// The section [model] of a config: a model, and the options and forms of its layers.
#pragma once

#include "core/fields.h"
#include "nn/forms/parts.h"
#include "nn/transformer.h"

namespace heed::inline HEED_REAL {

// What the head of a classifier reads: the mean of the hidden states, the first one, or the outputs
// of learned queries (nn/learned_queries.h).
enum class Pool { mean, first, learned };

struct ModelOptions : ModelShape, Forms {
  ModelKind kind = ModelKind::seq2seq;
  Pool pool = Pool::mean;    // of the classifier
  int64_t pool_queries = 1;  // with Pool::learned

  void fields(Fields& f);  // visits the keys of [model]
  void check_ranges() const override { check_fields(*this, "model"); }
  // Throws InputError for values out of range and, naming the key, for options that contradict each
  // other.
  void validate() const;
  std::unique_ptr<Parts> parts(const ModelSizes& sizes = {}) const override;
  // The layers of the encoder.
  FormOptions encoder_form(const ModelSizes& sizes = {}) const;
  // The layers of the decoder, or of the only stack of a language model.
  FormOptions decoder_form() const;
};

}  // namespace heed::inline HEED_REAL
