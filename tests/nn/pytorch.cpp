// Layers against PyTorch's: values and all gradients (tests/fixtures/make_nn.py).
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/autograd.h"
#include "core/ops.h"
#include "core/safetensors.h"
#include "nn/block.h"
#include "nn/embedding.h"
#include "nn/forms/attention.h"
#include "nn/forms/convolution.h"
#include "nn/forms/recurrent.h"

using namespace heed;

namespace {

// ‖ours - theirs‖ / ‖theirs‖ of each tensor.
#ifdef HEED_DOUBLE
constexpr double tolerance = 1e-10;
#else
constexpr double tolerance = 1e-5;
#endif

const SafetensorsFile& fixtures() {
  static const SafetensorsFile file(
      (std::filesystem::path(__FILE__).parent_path().parent_path() / "fixtures" / "nn.safetensors")
          .string());
  return file;
}

// One case of the file.
class Case {
 public:
  explicit Case(std::string name) : name_(std::move(name)) {}

  Tensor tensor(const std::string& key) const {
    const NamedArray& array = stored(key);
    std::vector<double> elements(static_cast<size_t>(array.bytes() / 8));
    fixtures().read(array, elements.data());
    const std::vector<real> values(elements.begin(), elements.end());
    return Tensor::from(Shape(std::span<const int64_t>(array.dims)), values);
  }
  Tensor input(const std::string& key) {
    inputs_.push_back({key, tensor("in." + key).set_requires_grad()});
    return inputs_.back().tensor;
  }
  Ids ids(const std::string& key) const {
    const NamedArray& array = stored("in." + key);
    std::vector<int64_t> elements(static_cast<size_t>(array.bytes() / 8));
    fixtures().read(array, elements.data());
    Ids ids = Ids::empty(Shape(std::span<const int64_t>(array.dims)));
    std::copy(elements.begin(), elements.end(), ids.mutable_data());
    return ids;
  }
  KeepMask lengths() const {
    KeepMask mask;
    mask.key_lengths = ids("lengths");
    return mask;
  }
  // Gives the parameters of a module, all of them, the file's values. `prefix` completes their
  // names.
  void load(const Module& module, const std::string& prefix = "") {
    for (NamedParameter p : module.parameters()) {
      p.name = prefix + p.name;
      const Tensor stored = tensor("p." + p.name);
      REQUIRE_MESSAGE(stored.shape() == p.tensor.shape(), p.name);
      std::copy_n(stored.data(), stored.size(), p.tensor.mutable_data());
      parameters_.push_back(p);
    }
  }
  // Holds the result and, after backward from the file's cotangent, every gradient against the
  // file's.
  void check_result(const Tensor& result) {
    compare("out", result);
    backward(result, tensor("cotangent"));
    for (const NamedParameter& x : inputs_) compare("d.in." + x.name, x.tensor.grad());
    for (const NamedParameter& p : parameters_) compare("d.p." + p.name, p.tensor.grad());
  }

 private:
  const NamedArray& stored(const std::string& key) const {
    const NamedArray* array = fixtures().find(name_ + "/" + key);
    REQUIRE_MESSAGE(array, name_ << " has no " << key);
    return *array;
  }
  static double norm(const Tensor& x) {
    double squares = 0;
    for (real v : x.values()) squares += static_cast<double>(v) * static_cast<double>(v);
    return std::sqrt(squares);
  }
  void compare(const std::string& key, const Tensor& ours) const {
    REQUIRE_MESSAGE(ours, name_ << "/" << key << ": no gradient arrived");
    const Tensor theirs = tensor(key);
    REQUIRE(ours.shape() == theirs.shape());
    // The bias of keys moves all scores of a query alike: its gradient is zero, and what either of
    // us has is the rounding of sums as large as the gradient of the keys' weight.
    const size_t bias = key.rfind("key.bias");
    const double size =
        norm(bias == key.npos ? theirs : tensor(key.substr(0, bias) + "key.weight"));
    const double error = norm(sub(ours.detach(), theirs)) / size;
    CHECK_MESSAGE(error <= tolerance, name_ << "/" << key << ": relative error " << error);
  }

  std::string name_;
  std::vector<NamedParameter> inputs_, parameters_;
};

// Attention from queries of width 8 to a context of width 6.
MultiHeadAttentionOptions to_narrower() {
  MultiHeadAttentionOptions setup;
  setup.context_dim = 6;
  return setup;
}

KeepMask causal() {
  KeepMask mask;
  mask.causal = true;
  return mask;
}

ModelOptions block_options(bool norm_first, FeedForwardActivation activation) {
  ModelOptions o;
  o.dim = 8;
  o.heads = 2;
  o.feed_forward = 12;
  o.activation = activation;
  o.norm_first = norm_first;
  return o;
}

}  // namespace

TEST_CASE("linear, embedding and layer norm are PyTorch's") {
  Case c("linear");
  const Linear linear(8, 3);
  c.load(linear);
  c.check_result(linear(c.input("x")));

  Case d("embedding");
  const Embedding embedding(7, 8, 1);
  d.load(embedding);
  d.check_result(embedding(d.ids("ids")));

  Case e("layer_norm");
  const Norm norm(8);
  e.load(norm);
  e.check_result(norm(e.input("x")));
}

TEST_CASE("gelu is PyTorch's, in both forms") {
  Case exact("gelu_none"), approximate("gelu_tanh");
  exact.check_result(gelu(exact.input("x")));
  approximate.check_result(gelu_tanh(approximate.input("x")));
}

TEST_CASE("cross entropy is PyTorch's, with ignored targets and label smoothing") {
  Case plain("cross_entropy_0.0"), smooth("cross_entropy_0.1");
  plain.check_result(cross_entropy(plain.input("logits"), plain.ids("targets"), Reduction::sum));
  smooth.check_result(
      cross_entropy(smooth.input("logits"), smooth.ids("targets"), Reduction::sum, 0.1));
}

TEST_CASE("losses have PyTorch's reductions") {
  struct Form {
    const char* name;
    Reduction reduction;
  };
  for (const auto& [name, reduction] : {Form{"mean", Reduction::mean}, {"none", Reduction::none}}) {
    Case plain(fmt::format("cross_entropy_0.0_{}", name));
    plain.check_result(cross_entropy(plain.input("logits"), plain.ids("targets"), reduction));
    Case smooth(fmt::format("cross_entropy_0.1_{}", name));
    smooth.check_result(
        cross_entropy(smooth.input("logits"), smooth.ids("targets"), reduction, 0.1));
  }
  for (const auto& [name, reduction] :
       {Form{"mean", Reduction::mean}, {"sum", Reduction::sum}, {"none", Reduction::none}}) {
    Case squares(fmt::format("mse_loss_{}", name));
    squares.check_result(mse_loss(squares.input("x"), squares.input("y"), reduction));
  }
  Case by_default("cross_entropy_0.0_mean"), squares("mse_loss_mean");
  by_default.check_result(cross_entropy(by_default.input("logits"), by_default.ids("targets")));
  squares.check_result(mse_loss(squares.input("x"), squares.input("y")));
}

TEST_CASE("multi-head attention is PyTorch's: padded, causal, and cross-attention") {
  Case self("self_attention");
  const MultiHeadAttention one(8, 2);
  self.load(one);
  const Tensor x = self.input("x");
  self.check_result(one(x, {.mask = self.lengths()}));

  Case ahead("causal_attention");
  const MultiHeadAttention two(8, 2);
  ahead.load(two);
  const Tensor y = ahead.input("x");
  ahead.check_result(two(y, {.mask = causal()}));

  Case across("cross_attention");
  const MultiHeadAttention three(8, 2, {.context_dim = 6});
  across.load(three);
  const Tensor z = across.input("x"), context = across.input("context");
  across.check_result(three.across(z, context, across.lengths()));

  Case two_sources("two_sources");  // kdim and vdim
  MultiHeadAttentionOptions setup = to_narrower();
  setup.value_source_dim = 5;
  const AttentionForm four(8, 2, setup);
  two_sources.load(four);
  const Tensor w = two_sources.input("x"), keys = two_sources.input("keys"),
               values = two_sources.input("values");
  two_sources.check_result(four(w, keys, values, {}, {}));
}

TEST_CASE("a dense mask, for each head or with padding, is PyTorch's attn_mask") {
  Case each("masked_attention");
  const MultiHeadAttention one(8, 2, {.context_dim = 6});
  each.load(one);
  KeepMask mask;
  mask.dense = each.ids("keep");
  const Tensor x = each.input("x"), context = each.input("context");
  each.check_result(one.across(x, context, mask));

  Case all("masked_padded_attention");
  const MultiHeadAttention two(8, 2);
  all.load(two);
  mask = all.lengths();
  mask.dense = all.ids("keep");
  const Tensor y = all.input("x");
  all.check_result(two(y, {.mask = mask}));
}

TEST_CASE("a bias of the scores is PyTorch's floating-point attn_mask") {
  Case each("biased_attention");
  const AttentionForm one(8, 2, to_narrower());
  each.load(one);
  const Tensor x = each.input("x"), context = each.input("context");
  each.check_result(one(x, context, {}, each.input("bias")));

  Case all("biased_padded_attention");
  const AttentionForm two(8, 2);
  all.load(two);
  const Tensor y = all.input("x");
  all.check_result(two(y, y, all.lengths(), all.input("bias")));
}

TEST_CASE("encoder and decoder layers are PyTorch's: pre- and post-norm, relu and gelu") {
  for (bool norm_first : {false, true})
    for (FeedForwardActivation activation : {Activation::relu, Activation::gelu}) {
      const std::string tag = std::string(norm_first ? "pre_" : "post_") +
                              (activation == Activation::relu ? "relu" : "gelu");
      Case c("encoder_" + tag);
      const EncoderLayer encoder(block_options(norm_first, activation), 1);
      c.load(encoder);
      c.check_result(encoder(c.input("x"), {c.lengths(), {}}));

      Case d("decoder_" + tag);
      const DecoderLayer decoder(block_options(norm_first, activation), 1);
      d.load(decoder);
      const Tensor x = d.input("x"), memory = d.input("memory");
      d.check_result(decoder(x, {causal(), {}}, memory, d.lengths()));
    }
}

TEST_CASE("the whole Transformer is PyTorch's, with a norm behind each stack") {
  for (bool norm_first : {false, true}) {
    Case c(norm_first ? "transformer_pre_gelu" : "transformer_post_relu");
    ModelOptions o = block_options(norm_first, norm_first ? Activation::gelu : Activation::relu);
    o.final_norm = Choice::yes;
    const Encoder encoder(o, 2);
    const Decoder decoder(o, 2);
    c.load(encoder, "encoder.");
    c.load(decoder, "decoder.");
    const Tensor source = c.input("source"), x = c.input("x");
    const Tensor memory = encoder(source, SequenceContext{c.lengths(), {}});
    c.check_result(decoder(x, SequenceContext{causal(), {}}, memory, c.lengths()));
  }
}

TEST_CASE("forms of attention are what PyTorch's operations give") {
  Case features("attention_over_features"), projections("nonlinear_projections"),
      concat("luong_concat");
  const AttentionForm over(8, 2, {.over = Over::features});
  features.load(over);
  features.check_result(over(features.input("x"), {.mask = features.lengths()}));
  const AttentionForm nonlinear(
      8, 2, {.projection_hidden = 3, .projection_activation = Activation::gelu, .output_dim = 5});
  projections.load(nonlinear);
  projections.check_result(nonlinear(projections.input("x"), {}));
  const Similarity similarity({.similarity = &similarities::luong_concat}, 2, 3, 4);
  concat.load(similarity);
  const Tensor q = concat.input("q"), k = concat.input("k");
  concat.check_result(similarity(q, k));
}

TEST_CASE("recurrent layers are PyTorch's") {
  Case c("gru");
  const Gru gru(8);
  c.load(gru);
  c.check_result(gru(c.input("x"), {}));

  Case d("lstm");
  const Lstm lstm(8);
  d.load(lstm);
  d.check_result(lstm(d.input("x"), {}));
}

TEST_CASE("convolutions are PyTorch's: with zero padding, circular, and causal") {
  struct Form {
    const char* name;
    int64_t kernel_size;
    Padding padding;
    bool causal;
  };
  for (const Form& form :
       {Form{"zeros", 3, Padding::zero, false}, Form{"circular", 5, Padding::circular, false},
        Form{"causal", 4, Padding::zero, true}}) {
    Case c(std::string("convolution_") + form.name);
    const Convolution convolution(8, form.kernel_size, form.padding, form.causal);
    c.load(convolution);
    c.check_result(convolution(c.input("x"), {}));
  }
}

TEST_CASE("convolutions on grids are PyTorch's, with any padding of each axis") {
  struct Form {
    const char* name;
    int64_t kernel_size;
    Padding padding;
    ConvolutionForm form;
  };
  const std::vector<int64_t> image{5, 4};
  for (const Form& form :
       {Form{"image", 3, Padding::zero, {image}}, Form{"torus", 3, Padding::circular, {image}},
        Form{"cylinder", 5, Padding::circular, {image, {1}}},
        Form{"video", 3, Padding::zero, {{2, 5, 2}}},
        Form{"scalar", 3, Padding::zero, {image, {}, true}}}) {
    Case c(std::string("convolution_") + form.name);
    const Convolution convolution(8, form.kernel_size, form.padding, false, {}, form.form);
    c.load(convolution);
    c.check_result(convolution(c.input("x"), {}));
  }
}
