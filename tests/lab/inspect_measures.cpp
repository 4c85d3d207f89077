// train.measures: the views of heed inspect as rows of metrics.jsonl, while a model trains.
#include <doctest/doctest.h>

#include <cmath>
#include <sstream>

#include "apps/cost/summary.h"
#include "apps/support/files.h"
#include "checks.h"
#include "core/pool.h"
#include "data/first_examples.h"
#include "lab/experiments/curves.h"
#include "lab/experiments/groups.h"
#include "lab/experiments/halving.h"
#include "lab/experiments/score_kinds.h"
#include "lab/inspect/embeddings.h"
#include "lab/inspect/measures.h"
#include "program.h"

using namespace heed;

namespace {

std::string language_config(const std::string& train) {
  return "[train]\nsteps = 24\nbatch_size = 4\nevaluate_every = 8\ncheckpoint_every = 8\n"
         "samples = 0\n" +
         train +
         "[model]\nkind = \"language_model\"\nlayers = 2\ndim = 8\nheads = 2\ndropout = 0.1\n"
         "[data]\nkind = \"sort\"\nsymbols = 4\nlengths = [3, 3]\n";
}

constexpr const char* all_measures = "measures = [\"heads\", \"ablate\", \"lens\"]\n";

void train(const std::string& folder, const std::string& config, const std::string& run,
           const std::vector<std::string>& more = {}) {
  write_file(folder + "/c.toml", config);
  std::vector<std::string> arguments = {"train", "c.toml", "--run", run};
  arguments.insert(arguments.end(), more.begin(), more.end());
  heed_ok(folder, arguments);
}

std::string weights_of(const std::string& run, int step) {
  return read_file(run + "/checkpoints/step-" + std::to_string(step) + "/model.safetensors",
                   "weights") +
         read_file(run + "/checkpoints/step-" + std::to_string(step) + "/optimizer.safetensors",
                   "state");
}

// The rows of measures without their times.
std::string rows_of(const std::string& run) {
  std::string rows;
  std::istringstream lines(read_file(run + "/metrics.jsonl", "metrics"));
  for (std::string line; std::getline(lines, line);)
    if (line.find("\"heads\":") != line.npos)
      rows += line.substr(0, line.rfind(",\"seconds\"")) + "\n";
  return rows;
}

}  // namespace

TEST_CASE("measures: training gives the same bits with and without, also resumed") {
  const TemporaryFolder folder;
  train(folder.path, language_config(""), "without");
  train(folder.path, language_config(all_measures), "with");
  train(folder.path, language_config(all_measures), "resumed", {"--until", "10"});
  heed_ok(folder.path, {"train", "--resume", "--run", "resumed"});
  CHECK(weights_of(folder / "without", 24) == weights_of(folder / "with", 24));
  CHECK(weights_of(folder / "without", 24) == weights_of(folder / "resumed", 24));
  CHECK(rows_of(folder / "without") == "");
  const std::string rows = rows_of(folder / "with");
  CHECK(std::ranges::count(rows, '\n') == 3);
  CHECK(rows == rows_of(folder / "resumed"));
  // A run may be resumed with other measures.
  heed_ok(folder.path, {"train", "--resume", "--run", "with", "--set", "train.measures=[]", "--set",
                        "train.steps=26"});
}

TEST_CASE("measures: the numbers are those of heed inspect on the checkpoint of the step") {
  const TemporaryFolder folder;
  train(
      folder.path,
      language_config(std::string(all_measures) + "keep_checkpoints = 9\naverage_checkpoints = 2\n"
                                                  "measure_every = 4\n"),
      "r");
  const Curves curves = read_curves(folder / "r/metrics.jsonl");
  const auto at = [&](const char* name, double step) {
    const Curve* const curve = curves.find(name);
    REQUIRE_MESSAGE(curve, name);
    CHECK(curve->steps.size() == 6);
    for (size_t i = 0; i < curve->steps.size(); ++i)
      if (curve->steps[i] == step) return curve->values[i];
    throw Error("no value");
  };
  const auto view = [&](const char* name) {
    return Json::parse(heed_in(folder.path, {"inspect", "r", name, "--json", "--split", "val",
                                             "--examples", "128", "--checkpoint", "16"})
                           .out,
                       "json");
  };
  const Json heads = view("heads");
  double largest = 0;
  for (const Json& head : heads.at("heads").elements())
    largest = std::max(largest, head.at("induction").number());
  const Json& last = heads.at("heads").elements()[2];
  CHECK(last.at("layer").integer() == 1);
  CHECK(at("heads.1.0.induction", 16) == last.at("induction").number());
  CHECK(at("heads.1.0.copying", 16) == last.at("copying").number());
  CHECK(at("heads.induction", 16) == largest);
  CHECK(at("heads.induction_loss", 16) == heads.at("induction_loss").number());
  double composed = -1e9;
  for (const Json& pair : heads.at("composition").elements()) {
    composed = std::max(composed, pair.at("k").number());
    if (pair.at("from").text() == "[0,1]" && pair.at("to").text() == "[1,0]")
      CHECK(at("heads.0.1.1.0.k_composition", 16) == pair.at("k").number());
  }
  CHECK(at("heads.k_composition", 16) == composed);
  const Json ablation = view("ablate");
  CHECK(at("ablate.loss", 16) == ablation.at("baseline").at("loss").number());
  double most = -1e9;
  for (const Json& part : ablation.at("parts").elements()) {
    const std::string name = part.at("part").string();
    if (name.find(".head.") != name.npos) most = std::max(most, part.at("delta").number());
    for (const auto& [known, place] :
         {std::pair{"decoder.layers.1.attention.head.0", "ablate.1.0.delta"},
          std::pair{"decoder.layers.1.feed_forward", "ablate.1.feed_forward.delta"},
          std::pair{"decoder.layers.0", "ablate.0.delta"},
          std::pair{"embedding.position.2", "ablate.position.2.delta"}})
      if (name == known) CHECK(at(place, 16) == part.at("delta").number());
  }
  CHECK(at("ablate.delta", 16) == most);
  const Json lens = view("lens");
  CHECK(at("lens.embedding.loss", 16) == lens.at("layers").elements()[0].at("loss").number());
  CHECK(at("lens.0.kl", 16) == lens.at("layers").elements()[1].at("kl").number());
  CHECK(at("lens.1.loss", 16) == at("ablate.loss", 16));
  // The training split has fewer than 128 examples: these are its scores.
  const Json scores = Json::parse(
      heed_in(folder.path, {"evaluate", "r", "--split", "train", "--checkpoint", "16", "--json"})
          .out,
      "json");
  CHECK(at("train.loss", 16) == doctest::Approx(scores.at("loss").number()).epsilon(1e-12));
  CHECK(at("train.token_accuracy", 16) == scores.at("token_accuracy").number());
}

TEST_CASE("measures: compare, curves and halving take them like any score") {
  const TemporaryFolder folder;
  train(folder.path, language_config("measures = [\"heads\", \"train\"]\nmeasure_every = 4\n"),
        "r");
  const Curves curves = read_curves(folder / "r/metrics.jsonl");
  const Curve& induction = *curves.find("heads.1.0.induction");
  // A score of heads is reached from below.
  const RunFolder run = RunFolder::open(folder / "r");
  double highest = 0, first = 0;
  for (size_t i = 0; i < induction.values.size(); ++i)
    if (induction.values[i] > highest) highest = induction.values[i], first = induction.steps[i];
  const auto reached_at = reached(run, {"heads.1.0.induction", highest});
  REQUIRE(reached_at);
  CHECK(reached_at->steps == first);
  CHECK(reached_at->seconds);
  CHECK(reached(run, {"heads.1.0.induction", highest + 0.01})->reached == 0);
  CHECK(ScoreTarget{"heads.induction_loss", 1}.is_reached_by(0.5));
  CHECK(ScoreTarget{"lens.0.loss", 1}.is_reached_by(0.5));
  CHECK(ScoreTarget{"lens.0.accuracy", 0.5}.is_reached_by(0.6));
  CHECK(ScoreTarget{"ablate.1.0.delta", 0.5}.is_reached_by(0.6));
  CHECK(ScoreTarget{"train.token_accuracy", 0.9}.is_reached_by(1));
  heed_ok(folder.path, {"compare", "r", "--curves", "c.csv", "--score", "heads.1.0.induction"});
  CHECK(std::ranges::count(read_file(folder / "c.csv", "csv"), '\n') == 7);
  // Its score is the one at the best step.
  const ScoredRun scored = ScoredRun::load(folder / "r");
  const double best_step = *scored.number("best_step");
  const auto at_best = std::ranges::find(induction.steps, best_step) - induction.steps.begin();
  CHECK(scored.number("heads.1.0.induction") == induction.values[static_cast<size_t>(at_best)]);
  CHECK(scored.number("train.loss"));
  heed_ok(folder.path, {"train", "--resume", "--run", "r", "--set", "train.measures=[]", "--set",
                        "train.steps=26"});
  CHECK_FALSE(ScoredRun::load(folder / "r").number("train.loss"));
  heed_ok(folder.path, {"report", "r", "--figure", "f.svg", "--score", "heads.1.0.induction"});
  Experiment experiment;
  experiment.train.measures = {"heads"};
  CHECK(metric_of("heads.induction", experiment) == "heads.induction");
  CHECK(metric_of("train.loss", experiment) == "train.loss");
  CHECK_THROWS_WITH_AS(metric_of("heads.inducton", experiment),
                       doctest::Contains("there is no such score"), InputError);
  experiment.train.measures = {};
  CHECK_THROWS_WITH_AS(metric_of("heads.induction", experiment),
                       doctest::Contains("train.measures"), InputError);
}

TEST_CASE("measures: each number says how its values are compared") {
  const TemporaryFolder folder;
  train(folder.path, language_config(all_measures), "r");
  for (const Curve& curve : read_curves(folder / "r/metrics.jsonl").curves) {
    const std::string measure = curve.name.substr(0, curve.name.find('.'));
    const auto known = std::ranges::find(inspect_measures, measure, &Measure::name);
    if (known == inspect_measures.end()) continue;
    const std::string last = curve.name.substr(curve.name.rfind('.') + 1);
    CHECK_MESSAGE((last == "loss" || std::ranges::count((*known)->kinds, last,
                                                        [](const Score& kind) {
                                                          return std::string(kind.name);
                                                        }) == 1),
                  curve.name);
    CHECK_NOTHROW(check_score_names("--score", {curve.name}));
    if (maximum_of(curve.name) == 1)
      for (const double value : curve.values) CHECK((value >= 0 && value <= 1.001));
  }
  CHECK(!lower_is_better("heads.induction"));
  CHECK(lower_is_better("heads.induction_loss"));
  CHECK(is_compared_by_ratio("lens.0.loss"));
  CHECK(!is_compared_by_ratio("ablate.1.0.delta"));
  CHECK_THROWS_AS(check_score_names("--score", {"val.induction"}), InputError);
  CHECK_THROWS_AS(check_score_names("--score", {"heads.1.0.inducton"}), InputError);
}

TEST_CASE("measures: an encoder-decoder has encoder, decoder and cross in front of the layer") {
  const TemporaryFolder folder;
  std::string config = tiny_config();
  config.insert(config.find("[model]"), all_measures);
  train(folder.path, config, "r");
  const Curves curves = read_curves(folder / "r/metrics.jsonl");
  for (const char* name :
       {"heads.encoder.0.1.previous", "heads.decoder.0.0.induction", "heads.cross.0.1.entropy",
        "ablate.encoder.0.1.delta", "ablate.decoder.0.feed_forward.delta", "ablate.cross.0.0.delta",
        "ablate.decoder.0.cross_attention.delta", "lens.0.kl"})
    CHECK_MESSAGE(curves.find(name), name);
  CHECK(!curves.find("heads.cross.0.1.previous"));  // it has no meaning there
}

TEST_CASE("measures: what cannot be measured is rejected before a step") {
  const TemporaryFolder folder;
  write_file(folder / "c.toml", language_config(all_measures));
  const auto rejected = [&](const std::string& setting, const std::vector<std::string>& parts) {
    check_rejected(heed_in(folder.path, {"train", "c.toml", "--run", "r", "--set", setting}), 2,
                   parts);
    CHECK(!exists(folder / "r/metrics.jsonl"));
  };
  rejected("train.measures=[\"haeds\"]",
           {"there is no measure \"haeds\"; the measures are train, heads, ablate, lens"});
  rejected("model.norm_first=false",
           {"c.toml:7:1: train.measures: this model has no \"lens\"", "model.norm_first = false"});
  rejected("model.block.mixing=convolution",
           {"this model has no \"heads\"", "no attention layers"});
}

TEST_CASE("measures: the memory that a training announces has what they need") {
  Experiment experiment;
  experiment.model.kind = ModelKind::language_model;
  experiment.model.dim = 16;
  experiment.model.heads = 8;
  experiment.data.kind = &data_kinds::sort;
  experiment.data.lengths = {24, 24};
  const Corpus corpus = load_corpus(experiment.data, ModelKind::language_model, 1);
  const double plain = summarize(experiment, corpus).memory.evaluation;
  experiment.train.measures = {"heads", "lens"};
  const double announced = summarize(experiment, corpus).memory.evaluation;
  const auto model = make_model(experiment.model, model_sizes(experiment, corpus));
  const Dataset examples = first_of(corpus.splits.at("val"), experiment.train.batch_size);
  double needed = 0;
  for (const Measure* measure : inspect_measures) {
    if (measure->name == std::string("ablate")) continue;
    pool_trim();
    const int64_t before = pool_statistics().live_bytes;
    pool_reset_peak();
    measure->numbers(*model, experiment, corpus, examples);
    needed = std::max(needed, static_cast<double>(pool_statistics().peak_bytes - before));
  }
  CHECK(needed > plain);
  CHECK(announced >= 0.9 * needed);
  CHECK(announced <= 1.5 * needed);
}

TEST_CASE("principal components: a line, a plane, and their shares of the variance") {
  const Components line = principal_components({{1, 2, 0}, {2, 4, 0}, {3, 6, 0}});
  CHECK(line.shares[0] == doctest::Approx(1));
  CHECK(std::abs(line.points[2][0] - line.points[0][0]) == doctest::Approx(2 * std::sqrt(5)));
  CHECK(line.points[1][0] == doctest::Approx(0));
  CHECK(line.points[2][1] == doctest::Approx(0));
  // A rectangle of 4 by 2: the variances are 4 and 1.
  const Components plane = principal_components({{0, 0}, {4, 0}, {0, 2}, {4, 2}});
  CHECK(plane.shares[0] == doctest::Approx(0.8));
  CHECK(plane.shares[1] == doctest::Approx(0.2));
  for (const auto& [x, y] : plane.points) {
    CHECK(std::abs(x) == doctest::Approx(2));
    CHECK(std::abs(y) == doctest::Approx(1));
  }
  for (const double share : principal_components({{1, 1}, {1, 1}}).shares) CHECK(share == 0);
}
