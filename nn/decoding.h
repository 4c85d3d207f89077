// Models as a search sees them (nn/search.h): tokens in, logits of the next one out.
//
// A call reads only what no call before has read, and remembers the rest (nn/cache.h): with a
// prompt of t tokens the first call costs t places, and each one after it costs one. Two things are
// computed anew from all tokens instead, and give the same: a model whose layers have nothing to go
// on from (can_cache() of nn/models.h); and a text that is longer than the window that the model
// may see. There every further token moves all others one place towards the start, and what was
// known of them is void.
#pragma once

#include "nn/models.h"
#include "nn/search.h"

namespace heed::inline HEED_REAL {

struct DecodingOptions {
  bool cache = true;   // without, all tokens are read at every call
  int64_t window = 0;  // only the last so many tokens are read; 0: all
};

// Of a search that starts from one row for each text. The model must outlive it.
NextLogits next_logits(const LanguageModel& model, const DecodingOptions& options = {});
// Of a search whose example n answers source n, which is encoded here and now.
NextLogits next_logits(const Seq2Seq& model, const Inputs& sources,
                       const DecodingOptions& options = {});

}  // namespace heed::inline HEED_REAL
