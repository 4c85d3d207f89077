// Layers and models reject options that a config would reject.
#include <doctest/doctest.h>

#include "core/scope.h"
#include "nn/forms/attention.h"
#include "nn/models.h"
#include "out_of_range.h"

namespace heed::inline HEED_REAL::testing {
namespace {

TEST_CASE("models reject every value out of its range") {
  const ScopeGuard here;
  here->shapes_only = true;  // only the options matter
  for (const ModelKind kind :
       {ModelKind::seq2seq, ModelKind::language_model, ModelKind::classifier}) {
    ModelOptions options;
    options.kind = kind;
    check_ranges(options, [](const ModelOptions& o) {
      make_model(o, {.source_vocabulary = 5, .vocabulary = 5, .classes = 3});
    });
  }
  check_ranges(ModelOptions(), [](const ModelOptions& o) { InputEmbedding(o, 5); });
  check_ranges(ModelOptions(), [](const ModelOptions& o) {
    Seq2Seq(o, {.source_vocabulary = 5, .vocabulary = 5});
  });
  check_ranges(ModelOptions(), [](const ModelOptions& o) { LanguageModel(o, {.vocabulary = 5}); });
}

TEST_CASE("a layer rejects every value out of its range") {
  const ScopeGuard here;
  here->shapes_only = true;
  check_ranges(ModelOptions(), [](const ModelOptions& o) { EncoderLayer{o}; });
  check_ranges(ModelOptions(), [](const ModelOptions& o) { DecoderLayer{o}; });
  check_ranges(MultiHeadAttentionOptions(),
               [](const MultiHeadAttentionOptions& o) { make_attention(8, 2, o); });
  check_ranges(MultiHeadAttentionOptions(),
               [](const MultiHeadAttentionOptions& o) { MultiHeadAttention(8, 2, o); });
  check_ranges(PositionalOptions(),
               [](const PositionalOptions& o) { make_attention(8, 2, {.positional = o}); });
  check_ranges(PositionalOptions(), [](const PositionalOptions& o) { PositionalEncoding(8, o); });
  check_ranges(PositionalOptions(), [](const PositionalOptions& o) { Positions(8, o); });
  check_ranges(PositionalOptions(), [](const PositionalOptions& o) { make_positions(8, o); });
  check_ranges(PositionalOptions(),
               [](const PositionalOptions& o) { sinusoidal_positions(4, 8, o); });
  check_ranges(MultiHeadAttentionOptions(),
               [](const MultiHeadAttentionOptions& o) { Similarity(o, 2, 4, 4); });
  check_ranges(NormOptions(), [](const NormOptions& o) { Norm(8, o); });
  check_ranges(InitOptions(), [](const InitOptions& o) { Linear(4, 4, {.init = o}); });
}

TEST_CASE("a layer rejects arguments out of the range of their key") {
  for (const double dropout : {-0.01, 0.995, std::nan("")}) {
    CAPTURE(dropout);
    CHECK_THROWS_AS(FeedForward(8, 16, Activation::relu, dropout), InputError);
    CHECK_THROWS_AS(MultiHeadAttention(8, 2, {.dropout = dropout}), InputError);
    CHECK_THROWS_AS(make_attention(8, 2, {.dropout = dropout}), InputError);
  }
  CHECK_THROWS_AS(Linear(4, 4, {.residual_depth = -1}), InputError);
}

}  // namespace
}  // namespace heed::inline HEED_REAL::testing
