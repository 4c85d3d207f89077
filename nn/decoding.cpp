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
Ids from_place(const Ids& tokens, int64_t first) {
  if (first == 0) return tokens;
  const int64_t rows = tokens.dim(0), time = tokens.dim(1);
  Ids rest = Ids::empty({rows, time - first});
  for (int64_t n = 0; n < rows; ++n)
    std::copy(tokens.data() + n * time + first, tokens.data() + (n + 1) * time,
              rest.data() + n * (time - first));
  return rest;
}

Ids rows_of(const Ids& x, std::span<const int64_t> rows) {
  Ids chosen = Ids::empty({static_cast<int64_t>(rows.size())});
  for (size_t n = 0; n < rows.size(); ++n) chosen.data()[n] = x[rows[n]];
  return chosen;
}

// The rows of x (N, …) that `rows` names, one after the other.
Tensor rows_of(const Tensor& x, std::span<const int64_t> rows) {
  const int64_t width = x.shape().span_size(1, x.rank());
  Tensor chosen = Tensor::empty(x.shape().with(0, static_cast<int64_t>(rows.size())));
  real* to = chosen.mutable_data();
  for (const int64_t row : rows) to = std::copy_n(x.data() + row * width, width, to);
  return chosen;
}

// The states at the last place: (N, T, D) → (N, D).
Tensor last_of(const Tensor& states) {
  const int64_t time = states.dim(1);
  return slice(states, 1, time - 1, time).reshape({states.dim(0), states.dim(2)});
}

// The cache of a search, from its first call to its last.
class Memory {
 public:
  explicit Memory(bool wanted) : wanted_(wanted) {}
  // The cache as it is for `rows` rows that go on from `parents`; null if none is wanted.
  KeyValueCache* of(std::span<const int64_t> parents) {
    if (!wanted_) return nullptr;
    if (cache_)
      cache_->select(parents);
    else
      cache_ = std::make_unique<KeyValueCache>(static_cast<int64_t>(parents.size()));
    return cache_.get();
  }
  void forget() { wanted_ = false, cache_ = nullptr; }

 private:
  bool wanted_;
  std::unique_ptr<KeyValueCache> cache_;
};

int64_t places_read(const KeyValueCache* cache) { return cache ? cache->length() : 0; }

// A language model and what it has read.
class Text {
 public:
  Text(const LanguageModel& model, const DecodingOptions& options)
      : model_(model), window_(options.window), memory_(options.cache && model.can_cache()) {}

  Tensor operator()(const Ids& tokens, std::span<const int64_t> parents) {
    ScopeGuard here;
    here->gradients = here->training = false;
    const int64_t beyond = window_ > 0 ? std::max<int64_t>(0, tokens.dim(1) - window_) : 0;
    if (beyond > 0) memory_.forget();
    KeyValueCache* const cache = memory_.of(parents);
    const Ids unread = from_place(tokens, beyond + places_read(cache));
    return model_.head()(last_of(model_.hidden(unread, cache)));
  }

 private:
  const LanguageModel& model_;
  int64_t window_;
  Memory memory_;
};

// An encoder-decoder, the sources it has encoded, and what it has read of the answers.
class Answer {
 public:
  Answer(const Seq2Seq& model, const Inputs& sources, const DecodingOptions& options)
      : model_(model),
        source_lengths_(sources.source_lengths),
        memory_(options.cache && model.can_cache()) {
    check(options.window == 0, "decoding: a window is for language models");
    ScopeGuard here;
    here->gradients = here->training = false;
    encoded_ = model.encode(sources);
    examples_.resize(static_cast<size_t>(encoded_.dim(0)));
    std::iota(examples_.begin(), examples_.end(), int64_t{0});
  }

  Tensor operator()(const Ids& tokens, std::span<const int64_t> parents) {
    ScopeGuard here;
    here->gradients = here->training = false;
    std::vector<int64_t> examples;
    for (const int64_t row : parents) {
      check(row >= 0 && row < std::ssize(examples_), "decoding: no row {} of {}", row,
            examples_.size());
      examples.push_back(examples_[static_cast<size_t>(row)]);
    }
    examples_ = std::move(examples);
    KeyValueCache* const cache = memory_.of(parents);
    const int64_t read = places_read(cache);
    // What a cache has made of the encoded sources it need not see again.
    const Tensor encoded = read > 0 ? Tensor() : rows_of(encoded_, examples_);
    const Tensor states = model_.decode(from_place(tokens, read), encoded,
                                        rows_of(source_lengths_, examples_), cache);
    return model_.head()(last_of(states));
  }

 private:
  const Seq2Seq& model_;
  Tensor encoded_;                 // (E, Ts, De)
  Ids source_lengths_;             // (E)
  std::vector<int64_t> examples_;  // of each row
  Memory memory_;
};

// A function may be copied; what was read is one all the same.
template <class Reader>
NextLogits shared(std::shared_ptr<Reader> reader) {
  return [reader](const Ids& tokens, std::span<const int64_t> parents) {
    return (*reader)(tokens, parents);
  };
}

}  // namespace

NextLogits next_logits(const LanguageModel& model, const DecodingOptions& options) {
  return shared(std::make_shared<Text>(model, options));
}

NextLogits next_logits(const Seq2Seq& model, const Inputs& sources,
                       const DecodingOptions& options) {
  return shared(std::make_shared<Answer>(model, sources, options));
}

}  // namespace heed::inline HEED_REAL
