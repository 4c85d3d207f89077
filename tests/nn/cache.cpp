// Reading with a cache gives the same results as reading all tokens again, in every model.
#include "nn/cache.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "checks.h"
#include "core/ops.h"
#include "core/scope.h"
#include "nn/decoding.h"
#include "support.h"
#include "variants.h"

using namespace heed;
using namespace heed::testing;

namespace {

constexpr int64_t vocabulary = 7, longest_sequence = 9;  // learned positions

// Every choice of a config in both kinds of model that generate, where the kind allows it.
std::vector<Variant> writers() {
  std::vector<Variant> all;
  for (const ModelKind kind : {ModelKind::language_model, ModelKind::seq2seq})
    for (const Variant& variant : variants()) {
      Variant writer{variant.name, kind, variant.change};
      try {
        writer.options().validate();
      } catch (const InputError&) {
        continue;
      }
      writer.name += kind == ModelKind::seq2seq ? ", encoder-decoder" : ", decoder-only";
      all.push_back(writer);
    }
  const auto add = [&](const char* name, ModelKind kind,
                       std::function<void(ModelOptions&)> change) {
    all.push_back({name, kind, std::move(change)});
  };
  // Several options that depend on the positions of queries and keys, together.
  add("rotary, heads of different widths, tied", ModelKind::language_model, [](ModelOptions& o) {
    o.positional.kind = &positional_encodings::rotary;
    o.attention.key_dims = o.attention.value_dims = {2, 4};
    o.attention.tie_key_value = true;
  });
  add("relative and a window", ModelKind::language_model, [](ModelOptions& o) {
    o.layers = 2;
    o.positional.kind = &positional_encodings::relative;
    o.positional.buckets = 4;
    o.positional.max_distance = 4;
    o.attention.window = 3;
  });
  add("a window that counts", ModelKind::language_model, [](ModelOptions& o) {
    o.attention.window = 3;
    o.attention.similarity = &similarities::dot;
    o.attention.normaliser = &normalisers::count;
  });
  return all;
}

std::unique_ptr<Model> writer_of(const Variant& variant) {
  std::unique_ptr<Model> model = model_of(variant);
  shake(*model);
  return model;
}

// Three rows of random tokens.
Ids tokens_of(int64_t time) {
  Ids tokens = Ids::empty({3, time});
  for (int64_t i = 0; i < tokens.size(); ++i)
    tokens.mutable_data()[i] = static_cast<int32_t>((i * i * 5 + i / 3 + 2) % vocabulary);
  return tokens;
}

Inputs three_sources() {
  Inputs in;
  in.source = Ids::from({3, 4}, {1, 0, 5, 4, 3, 2, 0, 0, 2, 2, 1, 0});
  in.source_lengths = Ids::from({3}, {4, 2, 3});
  return in;
}

Ids columns(const Ids& tokens, int64_t first, int64_t last) {
  Ids some = Ids::empty({tokens.dim(0), last - first});
  int32_t* to = some.mutable_data();
  for (int64_t n = 0; n < tokens.dim(0); ++n)
    to = std::copy(tokens.data() + n * tokens.dim(1) + first,
                   tokens.data() + n * tokens.dim(1) + last, to);
  return some;
}

Ids rows_of(const Ids& x, std::span<const int64_t> rows) {
  const int64_t width = x.size() / x.dim(0);
  Ids some = Ids::empty(x.shape().with(0, static_cast<int64_t>(rows.size())));
  int32_t* to = some.mutable_data();
  for (const int64_t row : rows)
    to = std::copy(x.data() + row * width, x.data() + (row + 1) * width, to);
  return some;
}

// A model that writes, of either kind, with a source where it has one.
struct Writer {
  const Model& model;
  Inputs sources = three_sources();

  explicit Writer(const Model& writing) : model(writing) {}

  Tensor memory() const {
    return model.kind() == ModelKind::seq2seq ? model.encode(sources) : Tensor();
  }
  // The states of `tokens`, whose row n has source row n, all read at once.
  Tensor read(const Ids& tokens) const {
    return model.decode(tokens, memory(), sources.source_lengths);
  }
  // The same for tokens that continue a cache; the encoder's output is passed only at first.
  Tensor read(const Ids& tokens, KeyValueCache& cache) const {
    return model.decode(tokens, cache.length() == 0 ? memory() : Tensor(), sources.source_lengths,
                        &cache);
  }
  void select(std::span<const int64_t> rows) {
    sources.source = rows_of(sources.source, rows);
    sources.source_lengths = rows_of(sources.source_lengths, rows);
  }
  NextLogits next(const DecodingOptions& options) const {
    return model.kind() == ModelKind::seq2seq ? next_logits(model, sources, options)
                                              : next_logits(model, options);
  }
};

void check_states(const Tensor& got, const Tensor& expected) {
  CHECK(relative_difference(got, expected) <= model_rounding);
}

}  // namespace

TEST_CASE("cache: attention of every form supports it, other mixings do not") {
  size_t without = 0;
  for (const Variant& variant : writers()) {
    CAPTURE(variant.name);
    const auto model = model_of(variant);
    CHECK(model->can_cache() == (variant.options().mixing.kind == &mixings::attention));
    without += !model->can_cache();
  }
  CHECK(without == 10);  // two convolutions, one in both stacks, a GRU and an LSTM, each in both
  CHECK(writers().size() > 70);
}

TEST_CASE("cache: reading tokens in pieces gives the same hidden states as reading all at once") {
  NoGradients here;
  for (const Variant& variant : writers()) {
    CAPTURE(variant.name);
    const auto model = writer_of(variant);
    const Writer writer(*model);
    if (!model->can_cache()) continue;
    const Ids tokens = tokens_of(longest_sequence);
    const Tensor all = writer.read(tokens);
    KeyValueCache cache(3);
    for (const int64_t last : {3, 4, 5, 7, 8, 9}) {
      const int64_t first = cache.length();
      check_states(writer.read(columns(tokens, first, last), cache), slice(all, 1, first, last));
      CHECK(cache.length() == last);
    }
  }
}

TEST_CASE("cache: rows are permuted, repeated and dropped") {
  NoGradients here;
  const std::vector<std::vector<int64_t>> choices = {{0, 1, 2}, {2, 0, 1}, {1, 1, 0, 2, 2},
                                                     {4, 3, 0}, {2},       {0, 0}};
  for (const Variant& variant : writers()) {
    CAPTURE(variant.name);
    const auto model = writer_of(variant);
    Writer writer(*model);
    if (!model->can_cache()) continue;
    Ids tokens = tokens_of(longest_sequence);
    KeyValueCache cache(3);
    writer.read(columns(tokens, 0, 2), cache);
    for (const std::vector<int64_t>& rows : choices) {
      tokens = rows_of(tokens, rows);
      writer.select(rows);
      cache.select(rows);
      REQUIRE(cache.rows() == static_cast<int64_t>(rows.size()));
      // Rows that were one part from here on.
      const int64_t position = cache.length();
      for (int64_t n = 0; n < tokens.dim(0); ++n)
        tokens.mutable_data()[n * longest_sequence + position] =
            static_cast<int32_t>((n + position) % vocabulary);
      const Tensor all = writer.read(columns(tokens, 0, position + 1));
      check_states(writer.read(columns(tokens, position, position + 1), cache),
                   slice(all, 1, position, position + 1));
    }
  }
}

TEST_CASE("cache: its capacity grows") {
  NoGradients here;
  const Variant variant{"", ModelKind::language_model, [](ModelOptions& o) {
                          o.layers = 2;
                          o.positional.kind = &positional_encodings::sinusoidal;
                        }};
  const auto model = writer_of(variant);
  const Writer writer(*model);
  const Ids tokens = tokens_of(150);
  const Tensor all = writer.read(tokens);
  KeyValueCache cache(3);
  for (int64_t t = 0; t < 150; ++t)
    check_states(writer.read(columns(tokens, t, t + 1), cache), slice(all, 1, t, t + 1));
}

TEST_CASE("cache: unsupported uses are rejected") {
  const Variant plain{"", ModelKind::language_model, [](ModelOptions&) {}};
  const Variant convolution{"", ModelKind::language_model,
                            [](ModelOptions& o) { o.mixing.kind = &mixings::convolution; }};
  KeyValueCache cache(3);
  CHECK_THROWS_AS(Writer(*model_of(plain)).read(tokens_of(2), cache), Error);  // gradients
  NoGradients here;
  CHECK_THROWS_AS(Writer(*model_of(convolution)).read(tokens_of(2), cache), Error);
  const auto model = model_of(plain);
  KeyValueCache four(4);
  Writer(*model).read(tokens_of(longest_sequence), cache);
  CHECK_THROWS_AS(Writer(*model).read(tokens_of(1), cache), Error);  // no position is left
  CHECK_THROWS_AS(Writer(*model).read(columns(Ids::full({2, 1}, 0), 0, 1), cache), Error);
  const int64_t beyond[] = {0, 3}, before[] = {-1};
  CHECK_THROWS_AS(cache.select(beyond), Error);
  CHECK_THROWS_AS(cache.select(before), Error);
  MultiHeadAttention open(4, 2);  // every position attends to every other
  SequenceContext context;
  context.past = &four;
  CHECK(!open.can_cache());
  CHECK_THROWS_AS(open(Tensor::zeros({4, 2, 4}), context), Error);
  const auto pairs = model_of({"", ModelKind::seq2seq, [](ModelOptions&) {}});
  CHECK_CONTAINS(thrown<Error>([&] { Writer(*pairs).next({.context = 3}); }),
                 "a context length needs a language model");
}

TEST_CASE("decoding: a search gives the same results with and without a cache") {
  for (const Variant& variant : writers()) {
    CAPTURE(variant.name);
    const auto model = writer_of(variant);
    const Writer writer(*model);
    for (const int64_t beam : {1, 2, 5}) {
      const SearchOptions search{.prompt = {1},
                                 .end = 0,
                                 .max_length = longest_sequence - 1,
                                 .beam = beam,
                                 .length_penalty = 0.7};
      const auto with = beam_search(writer.next({.cache = true}), 3, search);
      const auto without = beam_search(writer.next({.cache = false}), 3, search);
      for (size_t e = 0; e < 3; ++e) {
        CHECK(with[e].tokens == without[e].tokens);
        CHECK(std::abs(with[e].score - without[e].score) <=
              model_rounding * std::max(1.0, std::abs(without[e].score)));
      }
    }
  }
}

TEST_CASE(
    "decoding: with a context length a model reads the last tokens, with and without a cache") {
  const Variant variant{"", ModelKind::language_model, [](ModelOptions&) {}};
  const auto model = writer_of(variant);
  const Writer writer(*model);
  const Ids tokens = tokens_of(longest_sequence);
  const int64_t same[] = {0, 1, 2};
  for (const int64_t length : {1, 3}) {
    const NextLogits with = writer.next({.cache = true, .context = length});
    const NextLogits without = writer.next({.cache = false, .context = length});
    for (int64_t time = 1; time <= longest_sequence; ++time) {
      const Ids last = columns(tokens, std::max<int64_t>(0, time - length), time);
      const Tensor expected = writer.next({.cache = false})(last, same);
      check_states(with(columns(tokens, 0, time), same), expected);
      check_states(without(columns(tokens, 0, time), same), expected);
    }
  }
}

TEST_CASE("decoding: searches of one model are independent, copies of one share its state") {
  const Variant variant{"", ModelKind::seq2seq, [](ModelOptions&) {}};
  const auto model = writer_of(variant);
  const Writer writer(*model);
  const NextLogits first = writer.next({}), second = writer.next({}), independent = writer.next({});
  const NextLogits copy = first;
  const Ids tokens = tokens_of(3);
  const int64_t same[] = {0, 1, 2};
  independent(columns(tokens, 0, 1), same);
  const Tensor expected = independent(columns(tokens, 0, 2), same);
  first(columns(tokens, 0, 1), same);
  second(columns(tokens, 1, 2), same);
  check_states(copy(columns(tokens, 0, 2), same), expected);
}
