#include "nn/decoding.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "core/ops.h"
#include "core/scope.h"
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

// Logits from the hidden states at the last position: (N, T, D) → (N, V).
Tensor last_logits(const Model& model, const Tensor& states) {
  const int64_t time = states.dim(1);
  return model.head()(slice(states, 1, time - 1, time).reshape({states.dim(0), states.dim(2)}));
}

// The cache of a search over all its calls, or none.
class SearchCache {
 public:
  explicit SearchCache(bool enabled) : enabled_(enabled) {}
  // The cache for rows that continue the rows `parents`; null if it is disabled.
  KeyValueCache* continued_from(std::span<const int64_t> parents) {
    if (!enabled_) return nullptr;
    if (cache_)
      cache_->select(parents);
    else
      cache_ = std::make_unique<KeyValueCache>(static_cast<int64_t>(parents.size()));
    return cache_.get();
  }
  void disable() { enabled_ = false, cache_ = nullptr; }

 private:
  bool enabled_;
  std::unique_ptr<KeyValueCache> cache_;
};

int64_t length_of(const KeyValueCache* cache) { return cache ? cache->length() : 0; }

class Seq2SeqDecoder {
 public:
  Seq2SeqDecoder(const Seq2Seq& model, const Inputs& sources, const DecodingOptions& options)
      : model_(model),
        source_lengths_(sources.source_lengths),
        cache_(options.cache && model.can_cache()) {
    check(options.window == 0, "decoding: a window needs a language model");
    ScopeGuard here;
    here->gradients = here->training = false;
    memory_ = model.encode(sources);
    examples_.resize(static_cast<size_t>(memory_.dim(0)));
    std::iota(examples_.begin(), examples_.end(), int64_t{0});
  }

  Tensor operator()(const Ids& tokens, std::span<const int64_t> parents) {
    ScopeGuard here;
    here->gradients = here->training = false;
    std::vector<int64_t> examples;
    for (const int64_t row : parents) {
      check(row >= 0 && row < std::ssize(examples_), "decoding: there is no row {} of {}", row,
            examples_.size());
      examples.push_back(examples_[static_cast<size_t>(row)]);
    }
    examples_ = std::move(examples);
    KeyValueCache* const cache = cache_.continued_from(parents);
    const int64_t read = length_of(cache);
    // After the first call the cache holds the memory's keys and values.
    const Tensor memory = read > 0 ? Tensor() : rows_of(memory_, examples_);
    return last_logits(model_, model_.decode(columns_from(tokens, read), memory,
                                             rows_of(source_lengths_, examples_), cache));
  }

 private:
  const Seq2Seq& model_;
  Tensor memory_;                  // (E, Ts, De)
  Ids source_lengths_;             // (E)
  std::vector<int64_t> examples_;  // of each row
  SearchCache cache_;
};

}  // namespace

// Copies of the functions share one cache.
NextLogits next_logits(const LanguageModel& model, const DecodingOptions& options) {
  const auto search = std::make_shared<SearchCache>(options.cache && model.can_cache());
  return [&model, search, window = options.window](const Ids& tokens,
                                                   std::span<const int64_t> parents) {
    ScopeGuard here;
    here->gradients = here->training = false;
    const int64_t beyond = window > 0 ? std::max<int64_t>(0, tokens.dim(1) - window) : 0;
    if (beyond > 0) search->disable();
    KeyValueCache* const cache = search->continued_from(parents);
    const Ids unread = columns_from(tokens, beyond + length_of(cache));
    return last_logits(model, model.hidden(unread, cache));
  };
}

NextLogits next_logits(const Seq2Seq& model, const Inputs& sources,
                       const DecodingOptions& options) {
  const auto decoder = std::make_shared<Seq2SeqDecoder>(model, sources, options);
  return [decoder](const Ids& tokens, std::span<const int64_t> parents) {
    return (*decoder)(tokens, parents);
  };
}

}  // namespace heed::inline HEED_REAL
