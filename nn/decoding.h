// Models as a search sees them (nn/search.h): from tokens to the logits of the next one.
//
// A call reads only the tokens that no earlier call has read, and caches keys and values
// (nn/cache.h): with a prompt of t tokens the first call computes t positions, each later one one.
// In two cases all tokens are read again, with the same results: if a layer cannot continue from a
// cache (Model::can_cache()), and if a text exceeds `context`. Then every further
// token shifts the positions of all others, which invalidates the cache.
#pragma once

#include "nn/models.h"
#include "nn/search.h"

namespace heed::inline HEED_REAL {

struct DecodingOptions {
  bool cache = true;    // false: read all tokens at every call
  int64_t context = 0;  // the number of last tokens that are read; 0: all
};

// For a search that starts from one row for each text. The model must outlive the result.
// Throws Error unless it is a language model.
NextLogits next_logits(const Model& model, const DecodingOptions& options = {});
// For a search whose example n has source n. Encodes the sources now. Throws Error unless the model
// is an encoder-decoder.
NextLogits next_logits(const Model& model, const Inputs& sources,
                       const DecodingOptions& options = {});

}  // namespace heed::inline HEED_REAL
