// heed inspect: every identity that its views promise.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <sstream>

#include "apps/config/experiment.h"
#include "apps/inference/evaluation.h"
#include "apps/inference/scores.h"
#include "apps/support/files.h"
#include "apps/support/numbers.h"
#include "checks.h"
#include "core/scope.h"
#include "core/text.h"
#include "lab/inspect/ablate.h"
#include "lab/inspect/attribute.h"
#include "lab/inspect/eigenvalues.h"
#include "lab/inspect/heads.h"
#include "lab/inspect/induction.h"
#include "lab/inspect/lens.h"
#include "lab/inspect/trace.h"
#include "nn/recorder.h"
#include "page_data.h"
#include "program.h"

using namespace heed;

namespace {

// A model with random weights, large enough that its heads differ, and examples of a task.
struct InspectedTask {
  Experiment experiment;
  Corpus corpus;
  std::unique_ptr<Model> model;
  Dataset examples;
  std::unique_ptr<Inspected> inspected;

  explicit InspectedTask(ModelKind kind, const std::function<void(ModelOptions&)>& change = {},
                         const DataKind* data = &data_kinds::reverse) {
    experiment.data.kind = data;
    if (data == &data_kinds::graph) experiment.data.lengths = {4, 8};
    if (data == &data_kinds::shapes) experiment.data.size = 4;
    ModelOptions& o = experiment.model;
    o.kind = kind;
    o.dim = 16;
    o.heads = 2;
    o.layers = 2;
    o.init.gain = 2;
    if (change) change(o);
    corpus = load_corpus(experiment.data,
                         kind == ModelKind::seq2seq      ? ModelKind::seq2seq
                         : kind == ModelKind::classifier ? ModelKind::classifier
                                                         : ModelKind::language_model,
                         1);
    ScopeGuard here;
    here->seed = 3;
    here->calls = 0;
    model = make_model(o, model_sizes(experiment, corpus));
    // Biases and norms that are not where they start.
    for (const NamedParameter& p : model->parameters()) {
      if (p.tensor.rank() != 1) continue;
      Tensor values = p.tensor;
      for (int64_t i = 0; i < values.size(); ++i)
        values.mutable_data()[i] += 0.3f * std::sin(static_cast<real>(3 * i + 1));
    }
    examples = first_of(corpus.splits.at("val"), 40);
    inspected = std::make_unique<Inspected>(*model, o, corpus, examples, 16);
  }
};

constexpr ModelKind sequence_models[] = {ModelKind::seq2seq, ModelKind::language_model};

const Json& part_named(const Json& ablation, const std::string& name) {
  for (const Json& part : ablation.at("parts").elements())
    if (part.at("part").string() == name) return part;
  throw Error("no part " + name);
}

}  // namespace

TEST_CASE("inspect: the baseline of ablate and the last row of lens are the loss of evaluate") {
  for (const ModelKind kind : sequence_models) {
    const InspectedTask t(kind);
    const Measured scores = evaluate(*t.model, t.examples, t.corpus.framing, 16);
    const Json baseline = ablate(*t.inspected, AblateWith::zero).json().at("baseline");
    CHECK(baseline.at("loss").number() == doctest::Approx(scores.loss).epsilon(1e-6));
    CHECK(baseline.at("accuracy").number() == doctest::Approx(scores.token_accuracy));
    const Json layers = lens(*t.inspected).json();
    REQUIRE(layers.at("layers").elements().size() == 3);
    const Json& last = layers.at("layers").elements().back();
    CHECK(last.at("loss").number() == baseline.at("loss").number());
    CHECK(last.at("accuracy").number() == baseline.at("accuracy").number());
    CHECK(last.at("kl").number() == 0);
    CHECK(layers.at("layers").elements()[0].at("layer").is_null());
    CHECK(layers.at("layers").elements()[1].at("kl").number() > 0.01);
  }
}

TEST_CASE("inspect: zero for a head is a checkpoint without its columns, bit for bit") {
  const auto check_second_head = [](const InspectedTask& t, int64_t first) {
    const std::string layer = predicting_stack(t.experiment.model) + ".layers.1.attention";
    const Json cut = ablate(*t.inspected, AblateWith::zero).json();
    Tensor w = t.model->parameter(layer + ".output.weight");
    for (int64_t row = 0; row < 16; ++row)
      for (int64_t column = first; column < 16; ++column) w.mutable_data()[row * 16 + column] = 0;
    const double loss = losses_of(*t.inspected).mean_loss();
    CHECK(part_named(cut, layer + ".head.1").at("loss").number() == loss);
    CHECK(part_named(cut, layer + ".head.0").at("loss").number() != loss);
  };
  for (const ModelKind kind : sequence_models) check_second_head(InspectedTask(kind), 8);
  const auto unequal = [](ModelOptions& o) {
    o.attention.key_dims = {3, 9}, o.attention.value_dims = {5, 11};
  };
  check_second_head(InspectedTask(ModelKind::language_model, unequal), 5);
}

TEST_CASE("inspect: ablating heads that are constant by their mean changes nothing") {
  const InspectedTask t(ModelKind::language_model);
  // Values that do not depend on the input: z is the bias everywhere.
  Tensor v = t.model->parameter("decoder.layers.0.attention.value.weight");
  for (int64_t i = 0; i < v.size(); ++i) v.mutable_data()[i] = 0;
  const Json cut = ablate(*t.inspected, AblateWith::mean).json();
  CHECK(std::abs(part_named(cut, "decoder.layers.0.attention.head.0").at("delta").number()) < 1e-5);
  CHECK(std::abs(part_named(cut, "decoder.layers.1.attention.head.0").at("delta").number()) > 1e-5);
  const Json other = ablate(*t.inspected, AblateWith::resample).json();
  CHECK(std::abs(part_named(other, "decoder.layers.0.attention.head.0").at("delta").number()) <
        1e-5);
  const Json none = ablate(*t.inspected, AblateWith::zero).json();
  CHECK(std::abs(part_named(none, "decoder.layers.0.attention.head.0").at("delta").number()) >
        1e-5);
}

TEST_CASE("inspect: all heads of a layer and its sublayer are one set, and the delta is a mean") {
  const InspectedTask t(ModelKind::language_model);
  const Json sets =
      ablate(*t.inspected, AblateWith::zero,
             {"decoder.layers.0.attention.head.0,decoder.layers.0.attention.head.1",
              "decoder.layers.0.attention,decoder.layers.0.feed_forward", "decoder.layers.0"})
          .json();
  const auto& parts = sets.at("parts").elements();
  REQUIRE(parts.size() == 3);
  CHECK(parts[1].at("loss").number() == parts[2].at("loss").number());
  CHECK(parts[0].at("loss").number() != parts[2].at("loss").number());
  for (const Json& part : parts) {
    const double delta = part.at("delta").number();
    CHECK(part.at("loss").number() - sets.at("baseline").at("loss").number() ==
          doctest::Approx(delta).epsilon(1e-9));
    CHECK(part.at("interval").elements()[0].number() < delta);
    CHECK(part.at("interval").elements()[1].number() > delta);
  }
  CHECK_THROWS_WITH_AS(ablate(*t.inspected, AblateWith::zero, {"decoder.layers.7"}),
                       doctest::Contains("decoder.layers.7 is not a part of this model"),
                       InputError);
}

TEST_CASE("inspect: a set of parts is resampled from the whole model") {
  for (const DataKind* const data : {&data_kinds::addition, &data_kinds::reverse}) {
    const InspectedTask t(ModelKind::language_model, {}, data);
    // With the embedding and all layers of the next example a model has its logits. A shorter
    // example is followed by its last position.
    ExampleLosses expected;
    int64_t longest = 0;
    for (const Batch& batch : t.inspected->batches) {
      const Tensor logits = t.model->logits(batch);
      Tensor next = Tensor::empty(logits.shape());
      const int64_t rows = logits.dim(0), length = logits.dim(1), classes = logits.dim(2);
      for (int64_t b = 0; b < rows; ++b) {
        const int64_t other = (b + 1) % rows, last = batch.input_lengths[other] - 1;
        for (int64_t at = 0; at < length; ++at)
          std::copy_n(logits.data() + (other * length + std::min(at, last)) * classes, classes,
                      next.mutable_data() + (b * length + at) * classes);
      }
      longest = std::max(longest, length);
      expected.add(next, batch);
    }
    std::string set = "decoder.layers.0,decoder.layers.1";
    for (int64_t i = 0; i < longest; ++i) set += ",embedding.position." + std::to_string(i);
    const Json found = ablate(*t.inspected, AblateWith::resample, {set}).json();
    CHECK(part_named(found, set).at("loss").number() ==
          doctest::Approx(expected.mean_loss()).epsilon(1e-5));
  }
}

TEST_CASE("inspect: scores of heads do not depend on padding") {
  for (const ModelKind kind : sequence_models) {
    const InspectedTask t(kind);
    const Inspected alone(*t.model, t.experiment.model, t.corpus, t.examples, 1);
    const HeadScores padded = head_scores(*t.inspected, false),
                     expected = head_scores(alone, false);
    REQUIRE(padded.heads.size() == expected.heads.size());
    for (size_t i = 0; i < padded.heads.size(); ++i) {
      CAPTURE(padded.heads[i].name());
      CHECK(*padded.heads[i].entropy == doctest::Approx(*expected.heads[i].entropy).epsilon(1e-5));
      CHECK(*padded.heads[i].first == doctest::Approx(*expected.heads[i].first).epsilon(1e-5));
    }
  }
}

TEST_CASE("inspect: the rows of attribute add up to the difference of the logits") {
  const std::function<void(ModelOptions&)> forms[] = {
      [](ModelOptions&) {},
      [](ModelOptions& o) { o.norm.kind = NormKind::rms; },
      [](ModelOptions& o) { o.final_norm = Choice::no; },
      [](ModelOptions& o) { o.norm.kind = NormKind::none, o.norm_first = false; },
      [](ModelOptions& o) { o.mixing.feed_forward = false; },
      [](ModelOptions& o) { o.attention.combine = Combine::mean, o.attention.value_dim = 16; },
      [](ModelOptions& o) {
        o.attention.key_dims = {3, 9}, o.attention.value_dims = {5, 11};
      },
      [](ModelOptions& o) { o.activation = swiglu; },
      [](ModelOptions& o) { o.bias = false; },
      [](ModelOptions& o) { o.positional.kind = &positional_encodings::rotary; }};
  for (const ModelKind kind : sequence_models)
    for (const auto& form : forms) {
      const InspectedTask t(kind, form);
      for (const int64_t example : {0, 17, 39}) {
        const Json json = attribute(*t.inspected, example).json();
        double sum = 0, size = 0;
        for (const Json& row : json.at("rows").elements()) {
          sum += row.at("value").number();
          size += std::abs(row.at("value").number());
        }
        CHECK(std::abs(sum - json.at("difference").number()) < 1e-4 * size);
        CHECK(size > 0.1);
        CHECK(std::ranges::count_if(json.at("rows").elements(), [](const Json& row) {
                return row.at("part").string().find(".head.") != std::string::npos;
              }) == (kind == ModelKind::seq2seq ? 8 : 4));
        CHECK(json.at("token").string() != json.at("other").string());
      }
    }
}

TEST_CASE("inspect: eigenvalues of matrices whose eigenvalues are known") {
  const auto sum_and_size = [](const std::vector<double>& matrix, int n) {
    double size = 0;
    std::complex<double> sum = 0;
    for (const auto& value : eigenvalues(matrix, n)) sum += value, size += std::abs(value);
    return std::pair(sum, size);
  };
  CHECK(sum_and_size({3, 0, 0, 0, -2, 0, 0, 0, 5}, 3).second == doctest::Approx(10));
  // A rotation has the eigenvalues ±i, a shift of four the fourth roots of 1.
  CHECK(sum_and_size({0, -1, 1, 0}, 2).second == doctest::Approx(2));
  CHECK(std::abs(sum_and_size({0, -1, 1, 0}, 2).first) < 1e-12);
  const auto roots = eigenvalues({0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}, 4);
  for (const auto& value : roots) CHECK(std::abs(std::pow(value, 4) - 1.0) < 1e-9);
  // x³ - 6 x² + 11 x - 6 = (x - 1)(x - 2)(x - 3), as its companion matrix
  std::vector<double> found;
  for (const auto& value : eigenvalues({6, -11, 6, 1, 0, 0, 0, 1, 0}, 3))
    found.push_back(value.real());
  std::sort(found.begin(), found.end());
  for (size_t i = 0; i < 3; ++i) CHECK(found[i] == doctest::Approx(static_cast<double>(i + 1)));
}

TEST_CASE("inspect: scores of heads are their definitions, as matrices of 0 and 1") {
  const InspectedTask t(ModelKind::language_model);
  const Json json = head_scores(*t.inspected).json();
  REQUIRE(json.at("heads").elements().size() == 4);
  double part[2][3] = {}, whole[2] = {};
  for (const Batch& batch : t.inspected->batches) {
    const Recorder recorder;
    t.model->logits(batch);
    const Tensor a = recorder.records(*t.model)[1].weights;
    const int64_t time = a.dim(2);
    for (int64_t b = 0; b < a.dim(0); ++b)
      for (int64_t h = 0; h < 2; ++h)
        for (int64_t q = 0; q < batch.input_lengths[b]; ++q)
          for (int64_t k = 0; k < time; ++k) {
            const double w = a.data()[((b * 2 + h) * time + q) * time + k];
            const auto x = [&](int64_t i) { return batch.input[b * time + i]; };
            whole[h] += w;
            part[h][0] += w * (k == q - 1);
            part[h][1] += w * (k < q && x(k) == x(q));
            part[h][2] += w * (k >= 1 && k <= q && x(k - 1) == x(q));
          }
  }
  for (size_t h = 0; h < 2; ++h) {
    const Json& head = json.at("heads").elements()[2 + h];
    CHECK(head.at("layer").integer() == 1);
    CHECK(head.at("head").integer() == static_cast<int64_t>(h));
    CHECK(head.at("previous").number() == doctest::Approx(part[h][0] / whole[h]));
    CHECK(head.at("duplicate").number() == doctest::Approx(part[h][1] / whole[h]));
    CHECK(head.at("induction").number() == doctest::Approx(part[h][2] / whole[h]));
    CHECK(head.at("duplicate").number() > 0);
  }
}

TEST_CASE(
    "inspect: uniform attention has the scores of uniform attention; values that cannot be are "
    "null") {
  const InspectedTask t(ModelKind::language_model);
  for (const NamedParameter& p : t.model->parameters())
    if (p.name.find("attention.query") != p.name.npos)
      for (int64_t i = 0; i < p.tensor.size(); ++i) Tensor(p.tensor).mutable_data()[i] = 0;
  const Json json = head_scores(*t.inspected).json();
  // P[q, k] = 1 / (q + 1), so prefix matching is the mean of 1 / (q + 1) over the second half, and
  // least for the longest period.
  const RepeatedTokens repeated(*t.inspected);
  const int64_t n = repeated.periods().front(), first = repeated.first(n);
  CHECK(first == n + 1);  // <sep>
  double expected = 0;
  for (int64_t q = first; q < first + n; ++q) expected += 1.0 / static_cast<double>((q + 1) * n);
  for (const Json& head : json.at("heads").elements())
    CHECK(head.at("prefix_matching").number() == doctest::Approx(expected));
  CHECK(json.at("induction_loss").number() > 0);

  const InspectedTask pair(ModelKind::seq2seq);
  const Json both = head_scores(*pair.inspected).json();
  CHECK(both.at("induction_loss").is_null());
  CHECK(!both.find("periods"));
  CHECK(both.at("heads").elements().size() == 12);
  for (const Json& head : both.at("heads").elements()) {
    CHECK(head.at("prefix_matching").is_null());
    const bool crosses = head.at("module").string().ends_with("cross_attention");
    CHECK(head.at("previous").is_null() == crosses);
    CHECK(head.at("entropy").number() > 0);
  }
}

TEST_CASE("inspect: a graph's heads have no order; they are ablated and attributed") {
  const InspectedTask t(
      ModelKind::classifier,
      [](ModelOptions& o) {
        o.mixing.kind = &mixings::graph_attention;
        o.positional.kind = &positional_encodings::none;
      },
      &data_kinds::graph);
  const Json json = head_scores(*t.inspected).json();
  for (const Json& head : json.at("heads").elements()) {
    for (const char* name : {"previous", "duplicate", "induction", "distance"})
      CHECK(head.at(name).is_null());
    CHECK(head.at("first").number() > 0);
  }
  const std::string layer = "encoder.layers.1.graph_attention";
  const Json cut = ablate(*t.inspected, AblateWith::zero).json();
  const Json rows = attribute(*t.inspected, 3).json();
  double sum = 0, size = 0;
  int heads = 0;
  for (const Json& row : rows.at("rows").elements()) {
    sum += row.at("value").number();
    size += std::abs(row.at("value").number());
    heads += row.at("part").string().find(".head.") != std::string::npos;
  }
  CHECK(heads == 4);
  CHECK(std::abs(sum - rows.at("difference").number()) < 1e-4 * size);
  Tensor w = t.model->parameter(layer + ".output.weight");
  for (int64_t row = 0; row < 16; ++row)
    for (int64_t column = 0; column < 8; ++column) w.mutable_data()[row * 16 + column] = 0;
  CHECK(part_named(cut, layer + ".head.0").at("loss").number() ==
        losses_of(*t.inspected).mean_loss());
}

TEST_CASE("inspect: heads of a pool, and along an axis of a grid, have no scores of a sequence") {
  const auto check_heads = [](const InspectedTask& t, const std::string& where, size_t count) {
    size_t found = 0;
    const Json json = head_scores(*t.inspected).json();
    for (const Json& head : json.at("heads").elements()) {
      if (!head.at("module").string().starts_with(where)) continue;
      ++found;
      for (const char* name : {"previous", "duplicate", "induction", "distance"})
        CHECK(head.at(name).is_null());
      CHECK(head.at("entropy").number() > 0);
    }
    CHECK(found == count);
  };
  const auto along_columns = [](ModelOptions& o) {
    o.attention.axes = {0};
    o.pool = Pool::learned;
    o.pool_queries = 16;  // as many as positions
  };
  const InspectedTask t(ModelKind::classifier, along_columns, &data_kinds::shapes);
  check_heads(t, "encoder", 4);
  check_heads(t, "pool", 2);
}

TEST_CASE("inspect: a head that copies has the score 1, and its opposite -1") {
  const InspectedTask t(ModelKind::language_model);
  const std::string layer = "decoder.layers.0.attention.";
  Tensor v = t.model->parameter(layer + "value.weight"),
         o = t.model->parameter(layer + "output.weight");
  for (int64_t i = 0; i < 16; ++i)
    for (int64_t j = 0; j < 16; ++j) {
      v.mutable_data()[i * 16 + j] = i == j;
      o.mutable_data()[i * 16 + j] = i != j ? 0 : i < 8 ? 1 : -1;
    }
  const Json json = head_scores(*t.inspected).json();  // E = U, so W_V Eᵀ U W_O is ± a Gram matrix
  CHECK(json.at("heads").elements()[0].at("copying").number() == doctest::Approx(1).epsilon(1e-4));
  CHECK(json.at("heads").elements()[1].at("copying").number() == doctest::Approx(-1).epsilon(1e-4));
}

TEST_CASE("inspect: heads that read what another writes compose, and random ones do not") {
  const InspectedTask t(ModelKind::language_model);
  const auto pair = [](const Json& json, int64_t from, int64_t to) {
    for (const Json& each : json.at("composition").elements())
      if (each.at("from").elements()[1].integer() == from &&
          each.at("to").elements()[1].integer() == to)
        return each;
    throw Error("no pair");
  };
  const Json random = head_scores(*t.inspected).json();
  CHECK(random.at("composition").elements().size() == 4);
  for (const char* kind : {"q", "k", "v"})
    CHECK(std::abs(pair(random, 0, 1).at(kind).number()) < 0.1);
  // Head h selects the columns 8 h … 8 h + 7, so W_OV and W_QK are projections of norm √8.
  for (const char* layer : {"decoder.layers.0.attention.", "decoder.layers.1.attention."})
    for (const char* name : {"query", "key", "value", "output"}) {
      Tensor w = t.model->parameter(std::string(layer) + name + ".weight");
      for (int64_t i = 0; i < w.size(); ++i) w.mutable_data()[i] = i / 16 == i % 16;
    }
  const Json json = head_scores(*t.inspected).json();
  for (const char* kind : {"q", "k", "v"})
    CHECK(pair(json, 0, 0).at(kind).number() - pair(json, 0, 1).at(kind).number() ==
          doctest::Approx(1 / std::sqrt(8.0)).epsilon(1e-5));
}

TEST_CASE("inspect: a trace has the norms, the active units and the logits of its example") {
  for (const ModelKind kind : sequence_models) {
    const InspectedTask t(kind);
    const int64_t example = 17;
    const Json json = trace(*t.inspected, example).json();
    // The same example alone, seen by another tap.
    Dataset one = t.examples;
    one.size = 1;
    one.get = [&](int64_t, Example& e) { t.examples.get(example, e); };
    const Inspected alone(*t.model, t.experiment.model, t.corpus, one, 1);
    const Batch& batch = alone.batches[0];
    std::map<std::string, Tensor> streams, written, hidden;
    Tensor logits;
    {
      const NamedTap tap(
          alone, [](const std::string&, Site) { return true; },
          [&](const std::string& layer, Site site, const Tensor& x) {
            if (site == Site::stream || site == Site::embedded) streams[layer] = x.clone();
            if (site == Site::sublayer) written[layer] = x.clone();
            if (site == Site::preactivation) hidden[layer] = x.clone();
            return Tensor();
          });
      logits = t.model->logits(batch);
    }
    const auto norm = [](const Tensor& x, int64_t at) {
      double sum = 0;
      for (int64_t i = 0; i < x.dim(2); ++i)
        sum += std::pow(static_cast<double>(x.data()[at * x.dim(2) + i]), 2);
      return std::sqrt(sum);
    };
    const std::vector<Json>& stages = json.at("stages").elements();
    CHECK(stages.size() == (kind == ModelKind::seq2seq ? 12 : 5));
    for (const Json& stage : stages) {
      const std::string name = stage.at("stage").string();
      const bool embeds = name.ends_with("embedding");
      const Tensor& stream = streams.at(embeds ? name : name + "_norm");
      const auto positions = std::ssize(stage.at("norm").elements());
      REQUIRE(positions == alone.lengths(batch, name)[0]);
      CHECK(stage.at("written").is_null() == embeds);
      CHECK(stage.at("active").is_null() == !name.ends_with("feed_forward"));
      for (int64_t p = 0; p < positions; ++p) {
        const auto at = static_cast<size_t>(p);
        CHECK(stage.at("norm").elements()[at].number() ==
              doctest::Approx(norm(stream, p)).epsilon(1e-5));
        if (!embeds)
          CHECK(stage.at("written").elements()[at].number() ==
                doctest::Approx(norm(written.at(name + "_norm"), p)).epsilon(1e-4));
        if (stage.at("active").is_null()) continue;
        const Tensor& h = hidden.at(name);
        int64_t count = 0;
        for (int64_t i = 0; i < h.dim(2); ++i) count += h.data()[p * h.dim(2) + i] > 0;
        CHECK(stage.at("active").elements()[at].number() ==
              doctest::Approx(static_cast<double>(count) / static_cast<double>(h.dim(2))));
      }
    }
    // The model ends with its last stage, whose logits are therefore those of the model.
    const std::vector<Json>& whole = json.at("logits").elements();
    REQUIRE(whole.size() == stages.back().at("logits").elements().size());
    for (size_t p = 0; p < whole.size(); ++p) {
      REQUIRE(whole[p].elements().size() == 5);
      for (size_t i = 0; i < 3; ++i)
        CHECK(whole[p].elements()[i].text() ==
              stages.back().at("logits").elements()[p].elements()[i].text());
      const real* const row = logits.data() + static_cast<int64_t>(p) * logits.dim(2);
      CHECK(whole[p].elements()[0].at("logit").number() ==
            doctest::Approx(*std::max_element(row, row + logits.dim(2))).epsilon(1e-4));
      double sum = 0;
      for (int64_t v = 0; v < logits.dim(2); ++v) sum += std::exp(double{row[v]});
      CHECK(whole[p].elements()[0].at("probability").number() ==
            doctest::Approx(std::exp(whole[p].elements()[0].at("logit").number()) / sum)
                .epsilon(1e-4));
      const int32_t target = batch.target[static_cast<int64_t>(p)];
      REQUIRE(json.at("losses").elements()[p].is_null() == (target == ignored));
      if (target != ignored)
        CHECK(json.at("losses").elements()[p].number() ==
              doctest::Approx(std::log(sum) - double{row[target]}).epsilon(1e-4));
    }
    CHECK(trace(*t.inspected, example, 7).json().at("logits").elements()[0].elements().size() == 7);
    CHECK(stages[0].at("logits").is_null() == (kind == ModelKind::seq2seq));
  }
  const InspectedTask post(ModelKind::language_model,
                           [](ModelOptions& o) { o.norm_first = false; });
  CHECK(trace(*post.inspected).json().at("stages").elements()[1].at("logits").is_null());
  const InspectedTask shapes(ModelKind::classifier, {}, &data_kinds::shapes);
  const Json classified = trace(*shapes.inspected).json();
  CHECK(classified.at("logits").elements()[0].at("token").string() != "");
  CHECK_THROWS_WITH_AS(trace(*shapes.inspected, 40), doctest::Contains("there are 40 examples"),
                       InputError);
}

TEST_CASE("inspect: post-norm models have no lens and no attribution, and are told why") {
  const InspectedTask t(ModelKind::language_model, [](ModelOptions& o) { o.norm_first = false; });
  CHECK_THROWS_WITH_AS(lens(*t.inspected), doctest::Contains("model.norm_first = false"),
                       InputError);
  CHECK_THROWS_WITH_AS(attribute(*t.inspected), doctest::Contains("model.norm_first = false"),
                       InputError);
  CHECK(ablate(*t.inspected, AblateWith::mean).json().at("parts").elements().size() > 4);
}

TEST_CASE("inspect: a chain has no lens and no attribution, and is told why") {
  const InspectedTask t(ModelKind::language_model, [](ModelOptions& o) {
    o.mixing.residual = o.mixing.feed_forward = false, o.layers = 3;
  });
  for (const auto& view : {std::function<void()>([&] { lens(*t.inspected); }),
                           std::function<void()>([&] { attribute(*t.inspected); })})
    CHECK_THROWS_WITH_AS(view(), doctest::Contains("model.block.residual = false"), InputError);
  const HeadScores scores = head_scores(*t.inspected);
  CHECK(scores.heads.size() == 6);
  for (const HeadScores::Head& head : scores.heads) CHECK(!head.copying);
  CHECK(scores.composition->size() ==
        8);  // of the first layer with the second, of that and the third
  for (const HeadScores::Pair& pair : *scores.composition)
    CHECK(pair.to_layer == pair.from_layer + 1);
  const Json traced = trace(*t.inspected).json();
  REQUIRE(traced.at("stages").elements().size() == 4);
  for (const Json& stage : traced.at("stages").elements()) CHECK(stage.at("logits").is_null());
  // Without the last layer's output every prediction is the same.
  const Json cut = ablate(*t.inspected, AblateWith::zero).json();
  CHECK(part_named(cut, "decoder.layers.2").at("loss").text() ==
        part_named(cut, "decoder.layers.2.attention").at("loss").text());

  const InspectedTask one(ModelKind::language_model, [](ModelOptions& o) {
    o.mixing.residual = o.mixing.feed_forward = false, o.layers = 1;
  });
  for (const HeadScores::Head& head : head_scores(*one.inspected).heads) CHECK(head.copying);
  const InspectedTask between(ModelKind::language_model,
                              [](ModelOptions& o) { o.mixing.residual = false; });
  CHECK(head_scores(*between.inspected).composition->empty());
}

TEST_CASE("inspect: the stages of the lens are those of trace, and end with the model") {
  for (const ModelKind kind : sequence_models) {
    const InspectedTask t(kind);
    const int64_t example = 3;
    const Json seen = lens(*t.inspected, example).json(),
               traced = trace(*t.inspected, example).json();
    const auto at = static_cast<size_t>(seen.at("position").integer());
    const std::string stack = predicting_stack(t.experiment.model);
    std::vector<Json> stages = traced.at("stages").elements();
    std::erase_if(stages, [](const Json& stage) { return stage.at("logits").is_null(); });
    const std::vector<Json>& rows = seen.at("stages").elements();
    REQUIRE(rows.size() == stages.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      CHECK(rows[i].at("stage").string() == stages[i].at("stage").string());
      const std::vector<Json>& tokens = stages[i].at("logits").elements()[at].elements();
      for (size_t k = 0; k < tokens.size(); ++k) {
        const Json& token = rows[i].at("top").elements()[k];
        CHECK(token.at("token").string() == tokens[k].at("token").string());
        CHECK(token.at("probability").number() ==
              doctest::Approx(tokens[k].at("probability").number()).epsilon(1e-4));
      }
      CHECK((i + 1 == rows.size()) == (std::abs(rows[i].at("kl").number()) < 1e-6));
    }
    CHECK(rows.back().at("loss").number() ==
          doctest::Approx(traced.at("losses").elements()[at].number()).epsilon(1e-4));
    // The logits whose difference attribute splits are those of the lens's last row.
    const Json parts = attribute(*t.inspected, example).json();
    CHECK(parts.at("token").string() == seen.at("target").string());
    CHECK(parts.at("position").integer() == seen.at("position").integer());
  }
}

TEST_CASE("inspect: the table of ablate has each part, the one that matters most first") {
  const InspectedTask t(ModelKind::seq2seq);
  const Ablation cut = ablate(*t.inspected, AblateWith::zero);
  const Table table = cut.table();
  REQUIRE(table.rows.size() == cut.parts.size() + 1);
  double most = -INFINITY;
  for (const auto& part : cut.parts) most = std::max(most, part.delta.mean);
  CHECK(table.rows[1][2] == fmt::format("{:+.4f}", most));
}

TEST_CASE("inspect: the lens of a classifier shows its first example, and no position") {
  const InspectedTask t(ModelKind::classifier, {}, &data_kinds::shapes);
  const Lens seen = lens(*t.inspected);
  REQUIRE(seen.target);
  CHECK(*seen.target == t.inspected->token(t.inspected->batches[0].target[0]));
  CHECK(!seen.position);
  CHECK(seen.stages.size() >= 2);
}

TEST_CASE("inspect: the page of a run as it is has its snapshots, and begins with a hard example") {
  const TemporaryFolder folder;
  write_file(folder / "c.toml", tiny_config());
  heed_ok(folder.path, {"train", "c.toml", "--run", "r", "--set", "train.snapshots=4"});
  heed_ok(folder.path, {"inspect", "r", "-o", "page.html"});
  const Json data = data_of(read_file(folder / "page.html", "page"));
  std::vector<int64_t> steps;
  for (const Json& each : data.at("checkpoints").elements())
    steps.push_back(each.at("step").integer());
  CHECK(steps == std::vector<int64_t>{8, 12, 16, 24, 30});
  std::vector<std::string> reasons;
  for (const Json& each : data.at("shown").elements()) {
    reasons.push_back(each.at("why").string());
    CHECK(each.at("views").elements().size() == steps.size());
    for (const Json& map : each.at("maps").elements())
      CHECK(map.at("weights").elements().size() == steps.size());
  }
  CHECK(reasons ==
        std::vector<std::string>{"hardest that is right", "median loss", "hardest that is wrong"});
  // The report's attention has them, too.
  heed_ok(folder.path, {"report", "r", "--no-profile"});
  CHECK(data_of(read_file(folder / "report.html", "page"))
            .at("attention")
            .at("steps")
            .elements()
            .size() == 5);
  write_file(folder / "r/snapshots/step-12.safetensors", "damaged");
  const ProgramOutput output = heed_in(folder.path, {"inspect", "r", "-o", "new.html"});
  CHECK(output.code == 2);
  CHECK_CONTAINS(output.err, "error: r/snapshots/step-12.safetensors: damaged");
  CHECK_FALSE(exists(folder / "new.html"));
}

TEST_CASE("inspect: the page has the numbers of the views at every checkpoint") {
  const TemporaryFolder folder;
  write_file(folder / "c.toml", tiny_config());
  heed_ok(folder.path, {"train", "c.toml", "--run", "r", "--set", "train.keep_checkpoints=3",
                        "--set", "train.snapshots=0"});
  const ProgramOutput output = succeeded(heed_in(
      folder.path, {"inspect", "r", "-o", "page.html", "--example", "1", "--with", "zero"}));
  CHECK(output.out == "page.html\n");
  const std::string page = read_file(folder / "page.html", "page");
  const Json data = data_of(page);
  const auto view = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"inspect", "r"});
    arguments.insert(arguments.end(), {"--json"});
    return Json::parse(heed_ok(folder.path, arguments), "view");
  };
  const std::vector<Json>& checkpoints = data.at("checkpoints").elements();
  REQUIRE(checkpoints.size() == 3);
  const Json& shown = data.at("shown").elements()[0];
  for (size_t at = 0; at < checkpoints.size(); ++at) {
    const Json &checkpoint = checkpoints[at], &of_example = shown.at("views").elements()[at];
    const std::string step = std::to_string(checkpoint.at("step").integer());
    const Json heads = view({"heads", "--checkpoint", step});
    const Json ablation = view({"ablate", "--checkpoint", step, "--with", "zero"});
    const Json seen = view({"lens", "--checkpoint", step, "--example", "1"});
    const auto near = [](const Json& a, const Json& b) {
      return a.number() == doctest::Approx(b.number()).epsilon(1e-4);
    };
    CHECK(near(checkpoint.at("loss"), ablation.at("baseline").at("loss")));
    REQUIRE(checkpoint.at("heads").elements().size() == heads.at("heads").elements().size());
    for (size_t i = 0; i < heads.at("heads").elements().size(); ++i) {
      const Json& head = checkpoint.at("heads").elements()[i];
      const Json& expected = heads.at("heads").elements()[i];
      const std::string module = expected.at("module").string();
      CHECK(head.at("module").string() == module);
      for (const char* name : {"previous", "induction", "duplicate", "copying"}) {
        REQUIRE((head.find(name) != nullptr) == expected.at(name).is_number());
        if (head.find(name)) CHECK(near(head.at(name), expected.at(name)));
      }
      const Json& part =
          part_named(ablation, fmt::format("{}.head.{}", module, expected.at("head").integer()));
      CHECK(near(head.at("delta"), part.at("delta")));
      CHECK(near(head.at("low"), part.at("interval").elements()[0]));
      CHECK(near(head.at("all").at("delta"), part_named(ablation, module).at("delta")));
    }
    const std::vector<Json>& stages = seen.at("stages").elements();
    REQUIRE(of_example.at("lens").elements().size() == stages.size());
    for (size_t i = 0; i < stages.size(); ++i)
      CHECK(near(of_example.at("lens").elements()[i].at("loss"), stages[i].at("loss")));
    double sum = 0;
    for (const Json& part : of_example.at("parts").elements()) sum += part.elements()[1].number();
    CHECK(sum == doctest::Approx(of_example.at("difference").number()).epsilon(1e-3));
    CHECK(shown.at("target").string() == seen.at("target").string());
  }
  for (const Json& map : shown.at("maps").elements())
    CHECK(map.at("weights").elements().size() == 3);
  // Without scripts there is a table of the checkpoint that it shows first.
  const Json& first = checkpoints[static_cast<size_t>(data.at("first").integer())];
  const std::string best = std::to_string(first.at("step").integer());
  CHECK(view({"heads"}).text() == view({"heads", "--checkpoint", best}).text());
  for (const std::string& part :
       {std::string("<noscript>"), std::string("default-src 'none'"),
        fmt::format("<td>loss</td><td>{}</td>", four_digits(first.at("loss").number()))})
    CHECK_CONTAINS(page, part);
  CHECK(data.at("with").string() == "zero");
  CHECK(shown.at("example").integer() == 1);
  CHECK(shown.at("why").string() == "asked for");
  CHECK(data.at("model").text().starts_with(
      R"({"kind":"encoder-decoder","layers":1,"decoder_layers":1,"heads":2,"width":16,)"));
}

TEST_CASE("inspect: the page says what a model lacks, escapes names, and is whole or not written") {
  const TemporaryFolder folder;
  const std::string hostile = "<img src=x onerror=alert(1)>";
  std::string lines;
  for (const char* word : {"a", "b", "c", "</script><b>", "<!--", "{title}"})
    for (const char* other : {"a", "d", "&amp;", "</script><b>"})
      lines += fmt::format("{} {}\t{} {}\n", word, other, other, word);
  write_file(folder / "pairs.tsv", lines);
  write_file(folder / "c.toml", R"(
[train]
steps = 4
batch_size = 4
[model]
layers = 1
dim = 8
heads = 1
norm_first = false
[data]
kind = "pairs"
path = "pairs.tsv"
level = "word"
val_fraction = 0.5
)");
  heed_ok(folder.path, {"train", "c.toml", "--run", hostile});
  heed_ok(folder.path, {"inspect", hostile, "-o", "page.html"});
  const std::string page = read_file(folder / "page.html", "page");
  for (const char* part : {"<img", "<b>a", "</script><b>", "<!--"})
    CHECK_MESSAGE(page.find(part) == page.npos, part);
  CHECK_CONTAINS(page, "<h1>&lt;img src=x onerror=alert(1)&gt;</h1>");
  const Json data = data_of(page);
  CHECK_CONTAINS(data.at("notes").text(),
                 "The lens is left out: lens: this model has model.norm_first = false");
  const Json& shown = data.at("shown").elements()[0];
  CHECK_CONTAINS(shown.at("input").string(), " ");
  CHECK(shown.at("views").elements()[0].at("lens").elements().empty());
  CHECK(shown.at("views").elements()[0].at("parts").elements().empty());
  CHECK_FALSE(data.at("checkpoints").elements()[0].at("heads").elements().empty());

  for (const char* path : {"none/page.html", ".", "c.toml/page.html"})
    check_rejected(heed_in(folder.path, {"inspect", hostile, "-o", path}), 2, {path});
  check_rejected(heed_in(folder.path, {"inspect", "none", "-o", "new.html"}), 2, {"none"});
  check_rejected(heed_in(folder.path, {"inspect", hostile, "-o", "new.html", "--token", "a"}), 2,
                 {"--token and --against go with the view attribute"});
  check_rejected(heed_in(folder.path, {"inspect", hostile, "-o", "new.html", "--example", "99"}), 2,
                 {"--example 99: there are"});
  write_file(folder / (hostile + "/checkpoints/step-4/model.safetensors"), "damaged");
  CHECK(heed_in(folder.path, {"inspect", hostile, "-o", "new.html"}).code == 2);
  CHECK_FALSE(exists(folder / "new.html"));
  const std::string old = "old";
  write_file(folder / "page.html", old);
  CHECK(heed_in(folder.path, {"inspect", hostile, "-o", "page.html"}).code == 2);
  CHECK(read_file(folder / "page.html", "page") == old);
}

TEST_CASE("inspect: long tokens do not widen a table") {
  const PredictedTokens tokens = {
      {std::string(80, 'x'), 1, 0.5}, {"é", 2, 0.25}, {"b\x1b", 3, 0.125}};
  const auto text = [](const PredictedTokens& shown, size_t width) {
    return tokens_text(shown, &PredictedToken::probability, width);
  };
  const std::string all = text(tokens, 30);
  CHECK(character_count(all) == 30);
  CHECK(all.ends_with("… 0.50"));
  const PredictedTokens short_ones = {tokens[1], tokens[2]};
  CHECK(text(short_ones, 30) == "é 0.25  b\\x1b 0.12");
  CHECK(text(short_ones, 16) == "é 0.25");
  CHECK(text({}, 30) == "");
}

TEST_CASE("inspect: tables fit 100 columns, JSON has the numbers, mistakes end with code 2") {
  const TemporaryFolder folder;
  write_file(folder / "c.toml", tiny_config());
  heed_ok(folder.path, {"train", "c.toml", "--run", "r"});
  for (const char* view : {"heads", "ablate", "lens", "attribute", "trace"}) {
    const std::string table = heed_ok(folder.path, {"inspect", "r", view});
    std::istringstream lines(table);
    for (std::string line; std::getline(lines, line);)
      CHECK(std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; }) <=
            100);
    const ProgramOutput json = heed_in(folder.path, {"inspect", "r", view, "--json"});
    CHECK(Json::parse(json.out, "json").is_object());
    const ProgramOutput page =
        succeeded(heed_in(folder.path, {"inspect", "r", view, "-o", "page.html"}));
    CHECK(page.out == "page.html\n");
    // Every cell of the table can be read without scripts, in a page that loads nothing.
    const std::string html = read_file(folder / "page.html", "page");
    std::istringstream words(table);
    for (std::string word; words >> word;)
      if (word.find_first_of("<>&'\"") == word.npos) CHECK_CONTAINS(html, word);
    CHECK_CONTAINS(html, "default-src 'none'");
    CHECK(data_of(html).at("view").string() == view);
    CHECK_CONTAINS(html, std::string("<h1>r: ") + view + "</h1>");
  }
  check_rejected(heed_in(folder.path, {"inspect", "r"}), 2,
                 {"name a VIEW (heads, ablate, lens, attribute or trace)", "--output FILE"});
  check_rejected(
      heed_in(folder.path, {"inspect", "r", "circuits"}), 2,
      {"there is no view circuits; the views are heads, ablate, lens, attribute, trace"});
  check_rejected(heed_in(folder.path, {"inspect", "r", "lens", "--example", "5000"}), 2,
                 {"--example 5000", "raise --examples"});
  const ProgramOutput sets =
      heed_in(folder.path, {"inspect", "r", "ablate", "--json", "--parts",
                            "decoder.layers.0.attention,decoder.layers.0.feed_forward", "--parts",
                            "decoder.layers.0"});
  CHECK(Json::parse(sets.out, "json").at("parts").elements().size() == 2);
  check_rejected(heed_in(folder.path, {"inspect", "r", "heads", "--with", "zero"}), 2,
                 {"--parts and --with go with the view ablate"});
  check_rejected(
      heed_in(folder.path, {"inspect", "r", "ablate", "--with", "resample", "--examples", "1"}), 2,
      {"the last batch of these 1 examples has only one"});
  check_rejected(heed_in(folder.path, {"inspect", "r", "attribute", "--token", "zebra"}), 2,
                 {"--token: the vocabulary has no token zebra"});
}
