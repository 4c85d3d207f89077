// The three models, in every form: encoder-decoder, decoder-only, and encoder with a pooled head.
#pragma once

#include "nn/cache.h"
#include "nn/classifier.h"
#include "nn/forms/attention.h"
#include "nn/forms/mixings.h"
#include "nn/transformer.h"

namespace heed::inline HEED_REAL {

// Initial weights come from the random streams of the scope: set scope().seed first. Throws
// InputError as ModelOptions::validate() does, Error for sizes that do not fit the options.
std::unique_ptr<Model> make_model(const ModelOptions& options, const ModelSizes& sizes);

}  // namespace heed::inline HEED_REAL
