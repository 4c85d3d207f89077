// heed inspect against the definitions of TransformerLens and of the papers, computed by PyTorch
// (tests/fixtures/make_inspect.py).
#include <doctest/doctest.h>

#include <cmath>

#include "core/safetensors.h"
#include "lab/inspect/ablate.h"
#include "lab/inspect/attribute.h"
#include "lab/inspect/heads.h"
#include "lab/inspect/lens.h"

using namespace heed;

namespace {

constexpr double tolerance = 2e-5;  // heed computes in single precision

class InspectFixture {
 public:
  InspectFixture() : file_(HEED_FIXTURES "/inspect.safetensors") {
    options.kind = ModelKind::language_model;
    options.dim = 8;
    options.heads = 2;
    options.layers = 2;
    options.feed_forward = 16;
    options.activation = {Activation::relu, false};
    options.tie_weights = false;
    options.scale_embedding = Choice::no;
    options.positional.kind = &positional_encodings::learned;
    options.positional.max_length = 10;
    model = make_model(options, {.vocabulary = 12});
    std::map<std::string, Tensor> weights;
    for (const NamedParameter& parameter : model->parameters()) {
      const std::vector<double> stored = values("p." + parameter.name);
      Tensor tensor = Tensor::empty(parameter.tensor.shape());
      REQUIRE(std::ssize(stored) == tensor.size());
      for (int64_t i = 0; i < tensor.size(); ++i)
        tensor.mutable_data()[i] = static_cast<real>(stored[static_cast<size_t>(i)]);
      weights[parameter.name] = tensor;
    }
    model->load(weights);
    std::vector<std::string> tokens;
    for (int i = 0; i < 12; ++i) tokens.push_back(std::to_string(i));
    corpus.framing = ModelKind::language_model;
    corpus.target = std::make_shared<TextCodec>(Level::word, std::move(tokens));
    corpus.longest_input = 10;
    const std::vector<int32_t> input = read<int32_t>("data.input"),
                               target = read<int32_t>("data.target");
    examples = {6, [=](int64_t i, Example& example) {
                  example.input.assign(input.begin() + 10 * i, input.begin() + 10 * (i + 1));
                  std::erase(example.input, -1);
                  example.target.assign(target.begin() + 10 * i,
                                        target.begin() + 10 * i + std::ssize(example.input));
                }};
    inspected = std::make_unique<Inspected>(*model, options, corpus, examples, 4);
  }

  std::vector<double> values(const std::string& name) const { return read<double>(name); }

  ModelOptions options;
  std::unique_ptr<Model> model;
  Corpus corpus;
  Dataset examples;
  std::unique_ptr<Inspected> inspected;

 private:
  template <class Value>
  std::vector<Value> read(const std::string& name) const {
    const NamedArray* array = file_.find(name);
    REQUIRE_MESSAGE(array, name);
    std::vector<Value> all(static_cast<size_t>(array->bytes()) / sizeof(Value));
    file_.read(*array, all.data());
    return all;
  }
  SafetensorsFile file_;
};

void check_near(double value, double expected, const std::string& what) {
  CHECK_MESSAGE(std::abs(value - expected) <= tolerance * (1 + std::abs(expected)),
                what << ": " << value << ", expected " << expected);
}

}  // namespace

TEST_CASE("inspect fixture: heads have the scores of TransformerLens's detection patterns") {
  const InspectFixture f;
  const Json json = head_scores(*f.inspected).json();
  const std::vector<Json>& heads = json.at("heads").elements();
  REQUIRE(heads.size() == 4);
  for (const char* name :
       {"previous", "duplicate", "induction", "entropy", "distance", "first", "copying"}) {
    const std::vector<double> expected = f.values(std::string("heads.") + name);
    for (size_t h = 0; h < 4; ++h)
      check_near(heads[h].at(name).number(), expected[h], name + std::to_string(h));
  }
  check_near(json.at("in_context_score").number(), f.values("in_context_score")[0], "in context");
  // Composition is that of TransformerLens minus one number for all pairs of a model.
  const std::vector<Json>& pairs = json.at("composition").elements();
  REQUIRE(pairs.size() == 4);
  const double baseline = f.values("composition.q")[0] - pairs[0].at("q").number();
  CHECK(baseline > 0.1);
  CHECK(baseline < 1);
  for (const char* kind : {"q", "k", "v"}) {
    const std::vector<double> expected = f.values(std::string("composition.") + kind);
    for (size_t i = 0; i < 4; ++i) {
      CHECK(pairs[i].at("to").elements()[1].integer() == static_cast<int64_t>(i / 2));
      CHECK(pairs[i].at("from").elements()[1].integer() == static_cast<int64_t>(i % 2));
      check_near(pairs[i].at(kind).number() + baseline, expected[i], kind);
    }
  }
}

TEST_CASE("inspect fixture: the lens has its own statistics at every depth") {
  const InspectFixture f;
  const Json json = lens(*f.inspected).json();
  const std::vector<Json>& layers = json.at("layers").elements();
  REQUIRE(layers.size() == 3);
  for (const char* name : {"loss", "accuracy", "entropy", "kl"}) {
    const std::vector<double> expected = f.values(std::string("lens.") + name);
    for (size_t i = 0; i < 3; ++i) check_near(layers[i].at(name).number(), expected[i], name);
  }
}

TEST_CASE("inspect fixture: the rows of attribute are those of direct logit attribution") {
  const InspectFixture f;
  const Json json = attribute(*f.inspected, 1).json();
  std::map<std::string, double> rows;
  for (const Json& row : json.at("rows").elements())
    rows[row.at("part").string()] = row.at("value").number();
  const std::vector<double> expected = f.values("attribute");
  const char* const parts[] = {"embedding",
                               "positions",
                               "decoder.layers.0.attention.head.0",
                               "decoder.layers.0.attention.head.1",
                               "decoder.layers.0.feed_forward",
                               "decoder.layers.1.attention.head.0",
                               "decoder.layers.1.attention.head.1",
                               "decoder.layers.1.feed_forward",
                               "biases"};
  REQUIRE(rows.size() == expected.size());
  for (size_t i = 0; i < expected.size(); ++i) check_near(rows.at(parts[i]), expected[i], parts[i]);
  check_near(json.at("difference").number(), f.values("difference")[0], "difference");
}

TEST_CASE("inspect fixture: losses without parts are those of hooks that replace them") {
  const InspectFixture f;
  const char* const parts[] = {"decoder.layers.0.attention.head.0",
                               "decoder.layers.0.attention.head.1",
                               "decoder.layers.1.attention.head.0",
                               "decoder.layers.1.attention.head.1",
                               "decoder.layers.0.attention",
                               "decoder.layers.0.feed_forward",
                               "decoder.layers.1.attention",
                               "decoder.layers.1.feed_forward",
                               "decoder.layers.0",
                               "decoder.layers.1"};
  for (const auto& [with, name] :
       {std::pair{AblateWith::zero, "zero"}, std::pair{AblateWith::mean, "mean"}}) {
    const Json json = ablate(*f.inspected, with).json();
    check_near(json.at("baseline").at("loss").number(), f.values("loss")[0], "baseline");
    check_near(json.at("baseline").at("accuracy").number(), f.values("accuracy")[0], "accuracy");
    const std::vector<double> expected = f.values(name);
    for (size_t i = 0; i < expected.size(); ++i) {
      bool found = false;
      for (const Json& part : json.at("parts").elements())
        if (part.at("part").string() == parts[i]) {
          found = true;
          check_near(part.at("loss").number(), expected[i], parts[i]);
        }
      CHECK_MESSAGE(found, parts[i]);
    }
  }
}
