// heed inspect on a model of two layers whose weights are written down: an induction circuit
// (Olsson et al. 2022), whose scores are known.
//
// The stream has three parts: the token (V), the position (T), and the token before (V), each one
// hot. The head of layer 0 reads by position, and writes the token before. The head of layer 1
// finds the key whose token before is the query's token, and writes its token, which the logits
// read.
#include <doctest/doctest.h>

#include <cmath>

#include "checks.h"
#include "core/random.h"
#include "lab/inspect/ablate.h"
#include "lab/inspect/heads.h"
#include "lab/inspect/lens.h"

using namespace heed;

namespace {

struct InductionModel {
  static constexpr int64_t vocabulary = 12, length = 16, dim = vocabulary + length + vocabulary;
  static constexpr int64_t position_part = vocabulary, previous_part = vocabulary + length;
  static constexpr int64_t sequences = 20, begin = vocabulary - 1;

  ModelOptions options;
  Corpus corpus;
  std::vector<std::vector<int32_t>> inputs;
  Dataset examples;
  std::unique_ptr<Model> model;
  std::unique_ptr<Inspected> inspected;

  explicit InductionModel(bool lines = false) {
    options.kind = ModelKind::language_model;
    options.dim = dim;
    options.heads = 1;
    options.layers = 2;
    options.feed_forward = 4;
    options.bias = false;
    options.norm.kind = NormKind::rms;
    options.final_norm = Choice::no;
    options.scale_embedding = Choice::no;
    options.positional.kind = &positional_encodings::learned;
    options.positional.max_length = length;
    model = make_model(options, {.vocabulary = vocabulary});
    for (const NamedParameter& p : model->parameters())
      if (p.tensor.rank() == 2)
        for (int64_t i = 0; i < p.tensor.size(); ++i) Tensor(p.tensor).mutable_data()[i] = 0;
    for (int64_t v = 0; v < vocabulary; ++v) set("embedding.token", v, v, 1);
    for (int64_t t = 0; t < length; ++t) set("embedding.position", t, position_part + t, 1);
    // RMSNorm scales a stream of two or three ones by about √(D / 2): the scores below are large.
    const std::string first = "decoder.layers.0.attention.", second = "decoder.layers.1.attention.";
    for (int64_t t = 0; t < length; ++t) {
      if (t > 0) set(first + "query", t, position_part + t, 20);
      if (t > 0) set(first + "key", t, position_part + t - 1, 20);
    }
    const double scale = std::sqrt(dim / 2.0);
    for (int64_t v = 0; v < vocabulary; ++v) {
      set(first + "value", v, v, 1 / scale);
      set(first + "output", previous_part + v, v, 1);
      set(second + "query", v, v, 20);
      // The first position wrote its own token, for want of one before: it is no key.
      set(second + "key", v, previous_part + v, 20);
      set(second + "key", v, position_part, -20);
      set(second + "value", v, v, 1);
      set(second + "output", v, v, 10);
    }
    make_examples(lines);
    inspected = std::make_unique<Inspected>(*model, options, corpus, examples, 8);
  }

  // Sets W[row, column] of a layer.
  void set(const std::string& layer, int64_t row, int64_t column, double value) {
    Tensor w = model->parameter(layer + ".weight");
    w.mutable_data()[row * w.dim(1) + column] = static_cast<real>(value);
  }

  // Random tokens. A target is the token after. Lines begin with the last token, <bos>.
  void make_examples(bool lines) {
    Random random(7, Purpose::task);
    for (int64_t i = 0; i < sequences; ++i) {
      std::vector<int32_t>& x = inputs.emplace_back();
      if (lines) x.push_back(begin);
      while (std::ssize(x) < length)
        x.push_back(static_cast<int32_t>(random.below(vocabulary - lines)));
    }
    examples = {sequences, [this](int64_t i, Example& example) {
                  example.input = inputs[static_cast<size_t>(i)];
                  example.target.assign(example.input.begin() + 1, example.input.end());
                  example.target.push_back(ignored);
                }};
    std::vector<std::string> tokens;
    for (int64_t v = 0; v < vocabulary; ++v)
      tokens.push_back(lines && v == begin ? begin_token : std::to_string(v));
    corpus.framing = ModelKind::language_model;
    corpus.target = std::make_shared<TextCodec>(Level::word, std::move(tokens));
    corpus.longest_input = length;
  }
};

}  // namespace

TEST_CASE("inspect induction: a circuit written by hand has the scores 1 where a query can") {
  const InductionModel m;
  const Json json = head_scores(*m.inspected).json();
  const Json &first = json.at("heads").elements()[0], &second = json.at("heads").elements()[1];
  // Every query but that of position 0 attends to the position before.
  CHECK(first.at("previous").number() ==
        doctest::Approx((InductionModel::length - 1.0) / InductionModel::length).epsilon(1e-5));
  // Every query whose token was there before attends to the positions after it.
  double with_match = 0;
  for (const std::vector<int32_t>& x : m.inputs)
    for (int64_t q = 0; q < InductionModel::length; ++q) {
      bool found = false;
      for (int64_t k = 1; k <= q; ++k)
        found = found || x[static_cast<size_t>(k - 1)] == x[static_cast<size_t>(q)];
      with_match += found;
    }
  CHECK(with_match > 50);
  CHECK(second.at("induction").number() ==
        doctest::Approx(with_match /
                        static_cast<double>(InductionModel::sequences * InductionModel::length))
            .epsilon(1e-5));
  // In repeated tokens every query of the second half has a match: prefix matching is 1.
  CHECK(second.at("prefix_matching").number() == doctest::Approx(1).epsilon(1e-5));
  CHECK(first.at("prefix_matching").number() < 1e-5);
  CHECK(second.at("copying").number() == doctest::Approx(1).epsilon(1e-6));
  CHECK(json.at("induction_loss").number() < 1e-3);
}

TEST_CASE("inspect induction: repeated tokens begin as the lines of the run, with <bos>") {
  InductionModel m(/*lines=*/true);
  // The head looks at the first position instead, unless that has <bos>.
  for (int64_t v = 0; v < InductionModel::vocabulary; ++v) {
    m.set("decoder.layers.1.attention.key", v, InductionModel::position_part, 60);
    m.set("decoder.layers.1.attention.key", v, InductionModel::begin, -80);
  }
  const Json json = head_scores(*m.inspected).json();
  CHECK(json.at("heads").elements()[1].at("prefix_matching").number() ==
        doctest::Approx(1).epsilon(1e-5));
  CHECK(json.at("induction_loss").number() < 1e-3);
  // Of 16 inputs, 15 are left: two halves of 7.
  CHECK(json.at("periods").text() == "[7,5,4]");
}

TEST_CASE("inspect induction: a head that looks seven positions back passes at one period only") {
  InductionModel m;
  const std::string layer = "decoder.layers.1.attention.";
  for (int64_t t = 0; t < InductionModel::length; ++t) {
    for (int64_t column = 0; column < InductionModel::dim; ++column) {
      m.set(layer + "query", t, column, 0);
      m.set(layer + "key", t, column, 0);
    }
    m.set(layer + "query", t, InductionModel::position_part + t, 20);
    if (t >= 7) m.set(layer + "key", t, InductionModel::position_part + t - 7, 20);
  }
  const Json json = head_scores(*m.inspected).json();
  CHECK(json.at("periods").text() == "[8,6,5]");
  const Json& head = json.at("heads").elements()[1];
  const std::vector<Json>& matching = head.at("prefix_matching_by_period").elements();
  CHECK(matching[0].number() == doctest::Approx(1).epsilon(1e-5));
  CHECK(matching[1].number() < 0.1);  // the first seven positions look at all before them
  CHECK(matching[2].number() < 0.1);
  CHECK(head.at("prefix_matching").number() ==
        std::min(matching[1].number(), matching[2].number()));
  const std::vector<Json>& losses = json.at("induction_loss_by_period").elements();
  CHECK(losses[0].number() < 1e-3);
  CHECK(json.at("induction_loss").number() == std::max(losses[1].number(), losses[2].number()));
  CHECK(json.at("induction_loss").number() > 1);
  CHECK_CONTAINS(head_scores(*m.inspected).table().text(),
                 "Repeated random tokens: periods 8, 6, 5\n");
}

TEST_CASE("inspect induction: the second head reads what the first writes by its keys alone") {
  const InductionModel m;
  const Json pair = head_scores(*m.inspected).json().at("composition").elements().at(0);
  // ‖W_B W_A‖ = √V, ‖W_A‖ = √V, ‖W_B‖ = √(2 V): each row of W_K has two elements.
  CHECK(pair.at("k").number() - pair.at("q").number() ==
        doctest::Approx(1 / std::sqrt(2.0 * InductionModel::vocabulary)).epsilon(1e-5));
  CHECK(pair.at("q").number() == pair.at("v").number());
  CHECK(pair.at("q").number() < 0);  // random matrices compose more than those that do not meet
}

TEST_CASE("inspect induction: without either head the repeated tokens are not predicted") {
  const InductionModel m;
  const Json cut = ablate(*m.inspected, AblateWith::zero).json();
  for (const Json& part : cut.at("parts").elements()) {
    const std::string name = part.at("part").string();
    if (name.ends_with("attention.head.0")) CHECK(part.at("delta").number() != 0);
    if (name.ends_with("feed_forward")) CHECK(part.at("delta").number() == 0);  // it is 0
  }
  const Json layers = lens(*m.inspected).json();
  CHECK(layers.at("layers").elements()[0].at("kl").number() ==
        doctest::Approx(layers.at("layers").elements()[1].at("kl").number()).epsilon(1e-4));
}

TEST_CASE("inspect induction: targets that are not the next token have no loss of repeated ones") {
  InductionModel m;
  m.examples = {InductionModel::sequences, [&](int64_t i, Example& example) {
                  example.input = m.inputs[static_cast<size_t>(i)];
                  example.target = example.input;
                  std::ranges::sort(example.target);
                }};
  m.inspected = std::make_unique<Inspected>(*m.model, m.options, m.corpus, m.examples, 8);
  const Json json = head_scores(*m.inspected).json();
  CHECK(json.at("induction_loss").is_null());
  CHECK(json.at("heads").elements()[1].at("prefix_matching").number() > 0.99);  // it needs none
}
