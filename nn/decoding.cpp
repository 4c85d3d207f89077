// Defines nn/decoding.h: rows and columns, then the two functions.
#include "nn/decoding.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "core/inference_scope.h"
#include "core/ops.h"
#include "nn/cache.h"

namespace heed::inline HEED_REAL {
namespace {

// Columns [first, T) of tokens (N, T).
Ids columns_from(const Ids& tokens, int64_t first) {
  if (first == 0) return tokens;
  const int64_t rows = tokens.dim(0), time = tokens.dim(1);
  Ids rest = Ids::empty({rows, time - first});
  for (int64_t n = 0; n < rows; ++n)
    std::copy(tokens.data() + n * time + first, tokens.data() + (n + 1) * time,
              rest.mutable_data() + n * (time - first));
  return rest;
}

Ids rows_of(const Ids& x, std::span<const int64_t> rows) {
  Ids chosen = Ids::empty({static_cast<int64_t>(rows.size())});
  for (size_t n = 0; n < rows.size(); ++n) chosen.mutable_data()[n] = x[rows[n]];
  return chosen;
}

// The rows `rows` of x (N, …).
Tensor rows_of(const Tensor& x, std::span<const int64_t> rows) {
  const int64_t width = x.shape().span_size(1, x.rank());
  Tensor chosen = Tensor::empty(x.shape().with(0, static_cast<int64_t>(rows.size())));
  real* to = chosen.mutable_data();
  for (const int64_t row : rows) to = std::copy_n(x.data() + row * width, width, to);
  return chosen;
}

// Logits from the hidden states at the last position: (N, T, D) → (N, vocab).
Tensor last_logits(const Model& model, const Tensor& states) {
  const int64_t time = states.dim(1);
  return model.head()(slice(states, 1, time - 1, time).reshape({states.dim(0), states.dim(2)}));
}

}  // namespace

// Copies of the functions share one cache.
NextLogits next_logits(const Model& model, const DecodingOptions& options) {
  check(model.kind() == ModelKind::language_model, "decoding: a model that has sources needs them");
  struct State {
    bool caches;
    std::optional<KeyValueCache> cache = {};  // from the first call on
  };
  const auto state = std::make_shared<State>(State{options.cache && model.can_cache()});
  return [&model, state, context = options.context](const Ids& tokens,
                                                    std::span<const int64_t> parents) {
    const InferenceScope here;
    const int64_t beyond = context > 0 ? std::max<int64_t>(0, tokens.dim(1) - context) : 0;
    if (beyond > 0) {
      state->caches = false;
      state->cache.reset();
    }
    if (state->cache)
      state->cache->select(parents);
    else if (state->caches)
      state->cache.emplace(std::ssize(parents));
    KeyValueCache* const cache = state->cache ? &*state->cache : nullptr;
    const int64_t read = cache ? cache->length() : 0;
    return last_logits(model, model.decode(columns_from(tokens, beyond + read), {}, {}, cache));
  };
}

NextLogits next_logits(const Model& model, const Inputs& sources, const DecodingOptions& options) {
  check(model.kind() == ModelKind::seq2seq, "decoding: only an encoder-decoder has sources");
  check(options.context == 0, "decoding: a context length needs a language model");
  const InferenceScope outer;
  const Tensor memory = model.encode(sources);  // (E, Ts, De)
  // Without caching it stays empty, and only knows the source of each row.
  const auto cache = std::make_shared<KeyValueCache>(memory.dim(0));
  return [&model, memory, lengths = sources.source_lengths, cache,
          caches = options.cache && model.can_cache()](const Ids& tokens,
                                                       std::span<const int64_t> parents) {
    const InferenceScope here;
    cache->select(parents);
    const std::span<const int64_t> examples = cache->sources();
    const int64_t read = cache->length();
    // After the first call a cache has the memory's keys and values.
    const Tensor own = read > 0 ? Tensor() : rows_of(memory, examples);
    return last_logits(model,
                       model.decode(columns_from(tokens, read), own, rows_of(lengths, examples),
                                    caches ? cache.get() : nullptr));
  };
}

}  // namespace heed::inline HEED_REAL
