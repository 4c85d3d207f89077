#include "variants.h"

#include "core/scope.h"

namespace heed::inline HEED_REAL::testing {

ModelOptions Variant::options() const {
  ModelOptions o;
  o.kind = kind;
  o.layers = 1;
  o.dim = 4;
  o.heads = 2;
  o.feed_forward = 6;
  o.activation = Activation::gelu;
  o.positional.kind = &positional_encodings::learned;
  o.positional.max_length = 9;
  change(o);
  return o;
}

std::unique_ptr<Model> model_of(const Variant& variant) {
  ScopeGuard here;
  here->seed = 5;
  here->calls = 0;
  return make_model(variant.options(), {6, 7, 3});
}

constexpr ModelKind seq2seq = ModelKind::seq2seq, language_model = ModelKind::language_model,
                    classifier = ModelKind::classifier;

const std::vector<Variant>& variants() {
  static const std::vector<Variant> all = {
      {"encoder-decoder", seq2seq, [](ModelOptions& o) { o.layers = 2; }},
      {"decoder-only", language_model, [](ModelOptions& o) { o.layers = 2; }},
      {"classifier", classifier, [](ModelOptions& o) { o.layers = 2; }},
      {"post-norm encoder-decoder", seq2seq,
       [](ModelOptions& o) {
         o.norm_first = false;
         o.positional.kind = &positional_encodings::sinusoidal;
       }},
      {"post-norm decoder-only", language_model, [](ModelOptions& o) { o.norm_first = false; }},
      {"post-norm classifier", classifier, [](ModelOptions& o) { o.norm_first = false; }},
      {"attention only", seq2seq, [](ModelOptions& o) { o.mixing.feed_forward = false; }},
      {"no norm", language_model, [](ModelOptions& o) { o.norm.kind = NormKind::none; }},
      {"no residual", language_model, [](ModelOptions& o) { o.mixing.residual = false; }},
      {"a chain of attention", classifier,
       [](ModelOptions& o) {
         o.mixing.feed_forward = o.mixing.residual = false;
         o.norm.kind = NormKind::none;
         o.layers = 3;
       }},
      {"gelu_tanh and rms", language_model,
       [](ModelOptions& o) { o.activation = Activation::gelu_tanh, o.norm.kind = NormKind::rms; }},
      {"silu", language_model, [](ModelOptions& o) { o.activation = Activation::silu; }},
      {"swiglu", language_model, [](ModelOptions& o) { o.activation = swiglu; }},
      {"encoder of another width", seq2seq, [](ModelOptions& o) { o.encoder_dim = 6; }},
      {"additive similarity", seq2seq,
       [](ModelOptions& o) { o.attention.similarity = &similarities::additive; }},
      {"general similarity", seq2seq,
       [](ModelOptions& o) { o.attention.similarity = &similarities::general; }},
      {"concat similarity", classifier,
       [](ModelOptions& o) { o.attention.similarity = &similarities::concat; }},
      {"Luong's concat", classifier,
       [](ModelOptions& o) { o.attention.similarity = &similarities::luong_concat; }},
      {"hidden projections", seq2seq, [](ModelOptions& o) { o.attention.projection_hidden = 3; }},
      {"a wider stream", seq2seq,
       [](ModelOptions& o) {
         o.layers = 2, o.attention.output_dim = 6, o.tie_weights = false;
         o.positional.kind = &positional_encodings::relative;
       }},
      {"a narrower chain", classifier,
       [](ModelOptions& o) {
         o.layers = 2, o.attention.output_dim = 2, o.pool = Pool::learned;
         o.mixing.feed_forward = o.mixing.residual = false;
       }},
      {"a wider stream, post-norm", language_model,
       [](ModelOptions& o) {
         o.norm_first = o.tie_weights = false;
         o.layers = 2, o.attention.output_dim = 6;
       }},
      {"over features", classifier, [](ModelOptions& o) { o.attention.over = Over::features; }},
      {"gaussian positions", classifier,
       [](ModelOptions& o) { o.positional.kind = &positional_encodings::gaussian; }},
      {"cosine similarity", language_model,
       [](ModelOptions& o) { o.attention.similarity = &similarities::cosine; }},
      {"gaussian similarity, sum", language_model,
       [](ModelOptions& o) {
         o.attention.similarity = &similarities::gaussian;
         o.attention.normaliser = &normalisers::sum;
       }},
      {"embedded gaussian, sum", classifier,
       [](ModelOptions& o) {
         o.attention.similarity = &similarities::embedded_gaussian;
         o.attention.normaliser = &normalisers::sum;
       }},
      {"dot, count", language_model,
       [](ModelOptions& o) {
         o.attention.similarity = &similarities::dot;
         o.attention.normaliser = &normalisers::count;
       }},
      {"dot, no normaliser", seq2seq,
       [](ModelOptions& o) {
         o.attention.similarity = &similarities::dot;
         o.attention.normaliser = &normalisers::none;
       }},
      {"hardmax", language_model,
       [](ModelOptions& o) { o.attention.normaliser = &normalisers::hardmax; }},
      {"temperature", seq2seq, [](ModelOptions& o) { o.attention.temperature = 0.5; }},
      {"heads of different widths", seq2seq,
       [](ModelOptions& o) {
         o.attention.key_dims = {1, 3}, o.attention.value_dims = {2, 1};
       }},
      {"wide heads, their mean", language_model,
       [](ModelOptions& o) {
         o.attention.head_width = HeadWidth::wide;
         o.attention.combine = Combine::mean;
       }},
      {"heads by a tensor", classifier,
       [](ModelOptions& o) { o.attention.combine = Combine::tensor; }},
      {"heads by weights", classifier,
       [](ModelOptions& o) { o.attention.combine = Combine::weighted; }},
      {"maximum of the heads", classifier,
       [](ModelOptions& o) { o.attention.combine = Combine::max; }},
      {"no output projection", language_model,
       [](ModelOptions& o) { o.attention.combine = Combine::concat; }},
      {"no projections", classifier,
       [](ModelOptions& o) {
         MultiHeadAttentionOptions& a = o.attention;
         a.project_query = a.project_key = a.project_value = false;
         a.combine = Combine::concat;
       }},
      {"tied keys and values", seq2seq, [](ModelOptions& o) { o.attention.tie_key_value = true; }},
      {"a window", language_model, [](ModelOptions& o) { o.attention.window = 2; }},
      {"a causal classifier", classifier, [](ModelOptions& o) { o.attention.causal = true; }},
      {"tanh after attention", classifier,
       [](ModelOptions& o) { o.attention.activation = Activation::tanh; }},
      {"learned queries", classifier,
       [](ModelOptions& o) { o.pool = Pool::learned, o.pool_queries = 3; }},
      {"the first state", classifier, [](ModelOptions& o) { o.pool = Pool::first; }},
      {"rotary", seq2seq,
       [](ModelOptions& o) { o.positional.kind = &positional_encodings::rotary; }},
      {"alibi", language_model,
       [](ModelOptions& o) { o.positional.kind = &positional_encodings::alibi; }},
      {"relative", seq2seq,
       [](ModelOptions& o) {
         o.positional.kind = &positional_encodings::relative;
         o.positional.buckets = 4;
       }},
      {"integers for positions", classifier,
       [](ModelOptions& o) { o.positional.kind = &positional_encodings::integer; }},
      {"concatenated positions", language_model,
       [](ModelOptions& o) {
         o.dim = 6;
         o.positional.kind = &positional_encodings::sinusoidal;
         o.positional.combine = PositionalCombine::concat;
         o.positional.dim = 2;
         o.tie_weights = false;
       }},
      {"convolution", language_model,
       [](ModelOptions& o) { o.mixing.kind = &mixings::convolution; }},
      {"circular convolution", classifier,
       [](ModelOptions& o) {
         o.mixing.kind = &mixings::convolution;
         o.mixing.padding = Padding::circular;
       }},
      {"convolution in both stacks", seq2seq,
       [](ModelOptions& o) { o.mixing.kind = &mixings::convolution; }},
      {"gru", seq2seq, [](ModelOptions& o) { o.mixing.kind = &mixings::gru; }},
      {"lstm", seq2seq, [](ModelOptions& o) { o.mixing.kind = &mixings::lstm; }},
      {"scalar convolution", language_model,
       [](ModelOptions& o) {
         o.mixing.kind = &mixings::convolution;
         o.mixing.scalar_kernel = true;
       }},
      {"one dense layer", classifier,
       [](ModelOptions& o) {
         o.mixing.kind = &mixings::dense, o.mixing.length = 9;
         o.mixing.full_matrix = true;
       }},
      {"induced attention", classifier,
       [](ModelOptions& o) {
         o.mixing.kind = &mixings::induced_attention;
         o.mixing.induced_queries = 2;
       }},
      {"dense over time", classifier,
       [](ModelOptions& o) { o.mixing.kind = &mixings::dense, o.mixing.length = 9; }},
  };
  return all;
}

}  // namespace heed::inline HEED_REAL::testing
