// train.statistics: the same bits with and without, and numbers that are computed here by hand.
#include "apps/training/step_statistics.h"

#include <cmath>
#include <sstream>

#include "apps/inference/evaluation.h"
#include "apps/support/digest.h"
#include "apps/training/load_data.h"
#include "core/ops.h"
#include "nn/recorder.h"
#include "program.h"

using namespace heed;

namespace {

// A trainer of the tiny config.
struct TrainingInFolder : TemporaryFolder {
  LoadedConfig config;
  Corpus corpus;
  Trainer trainer;
  StepStatistics statistics;

  explicit TrainingInFolder(const std::vector<std::string>& set = {})
      : config(read_config(set)),
        corpus(load_data(config)),
        trainer(config.experiment, corpus),
        statistics(config.experiment, corpus, trainer) {}
  LoadedConfig read_config(std::vector<std::string> set) const {
    set.emplace_back("threads=1");
    write_file(path + "/c.toml", tiny_config());
    return load_config(path + "/c.toml", set);
  }
  Batch batch(int64_t examples) const {
    Batch batch;
    Batches::in_order(corpus.splits.at("val"), corpus.framing, examples).get(0, batch);
    return batch;
  }
};

double norm(const std::vector<double>& values) {
  double squares = 0;
  for (const double value : values) squares += value * value;
  return std::sqrt(squares);
}

std::vector<double> values_of(const Tensor& x) { return {x.values().begin(), x.values().end()}; }

doctest::Approx close_in_float(double value) { return doctest::Approx(value).epsilon(1e-5); }

// Rows of metrics.jsonl that have this member.
std::vector<Json> rows_with(const std::string& member, const std::string& path) {
  std::istringstream text(read_file(path, "metrics"));
  std::vector<Json> rows;
  for (std::string line; std::getline(text, line);)
    if (const Json row = Json::parse(line, path); row.find(member)) rows.push_back(row);
  return rows;
}

}  // namespace

TEST_CASE("statistics of steps: norms of parameters, gradients and updates") {
  TrainingInFolder t({"optim.clip_norm=0.01"});
  t.trainer.step();
  std::map<std::string, std::vector<double>> before;
  for (const NamedParameter& p : t.trainer.model().parameters())
    before[p.name] = values_of(p.tensor);
  t.statistics.before_step();
  const StepReport report = t.trainer.step();
  const Json json = t.statistics.measure(report).at("parameters");
  CHECK(json.members().size() == before.size());
  double squares = 0;
  for (const NamedParameter& p : t.trainer.model().parameters()) {
    std::vector<double> change = values_of(p.tensor);
    CHECK(json.at(p.name).at("weight").number() == close_in_float(norm(change)));
    for (size_t i = 0; i < change.size(); ++i) change[i] -= before[p.name][i];
    CHECK(norm(change) > 0);
    CHECK(json.at(p.name).at("update").number() == close_in_float(norm(change)));
    squares += std::pow(json.at(p.name).at("gradient").number(), 2);
  }
  // Before clipping.
  CHECK(report.gradient_norm > 0.02);
  CHECK(std::sqrt(squares) == close_in_float(report.gradient_norm));
}

TEST_CASE("statistics of steps: a frozen parameter has only a weight") {
  TrainingInFolder t({"train.freeze=[\"embedding.*\"]"});
  t.statistics.before_step();
  const Json json = t.statistics.measure(t.trainer.step()).at("parameters");
  CHECK(json.at("embedding.token.weight").members().size() == 1);
  CHECK(json.at("decoder.norm.weight").members().size() == 3);
}

TEST_CASE("statistics of steps: RMS of layers without padding, and dead units") {
  TrainingInFolder t;
  NoGradients here;
  const Batch batch = t.batch(16);
  const Json layers = layer_statistics(t.trainer.model(), batch);
  std::vector<std::string> names;
  for (const auto& [name, value] : layers.members()) names.push_back(name);
  for (const char* layer : {"embedding", "encoder.layers.0.attention", "encoder.layers.0",
                            "decoder.layers.0.cross_attention", "decoder.norm"})
    CHECK_MESSAGE(std::ranges::find(names, layer) != names.end(), layer);
  // The output of decoder.norm is what the head reads.
  const Tensor y = t.trainer.model().head_input(batch);
  double squares = 0, count = 0;
  for (int64_t row = 0; row < y.dim(0) * y.dim(1); ++row) {
    if (row % y.dim(1) >= batch.input_lengths[row / y.dim(1)]) continue;
    for (int64_t i = 0; i < y.dim(2); ++i) {
      squares += std::pow(double{y.values()[static_cast<size_t>(row * y.dim(2) + i)]}, 2);
      ++count;
    }
  }
  CHECK(count < static_cast<double>(y.size()));  // there is padding
  CHECK(layers.at("decoder.norm").at("rms").number() == close_in_float(std::sqrt(squares / count)));

  // A bias of -1000 kills the first 16 of 64 units.
  Tensor bias = t.trainer.model().parameter("encoder.layers.0.feed_forward.up.bias");
  const Json& alive = layers.at("encoder.layers.0.feed_forward").at("dead");
  CHECK(alive.number() < 0.25);
  for (int64_t i = 0; i < 16; ++i) bias.mutable_data()[i] = -1000;
  const Json killed = layer_statistics(t.trainer.model(), batch);
  CHECK(killed.at("encoder.layers.0.feed_forward").at("dead").number() >= 0.25);
  CHECK(killed.at("encoder.layers.0.feed_forward").at("dead").number() <= 0.25 + alive.number());
  CHECK(layers.at("encoder.layers.0.attention").find("dead") == nullptr);
}

TEST_CASE("statistics of steps: entropy and distance of each head") {
  TrainingInFolder t;
  NoGradients here;
  const Batch example = t.batch(1);
  const Json heads = head_statistics(t.trainer.model(), example);
  CHECK(heads.members().size() == 3);  // encoder, decoder, cross
  Recorder recorder;
  t.trainer.model().logits(example);
  for (const AttentionRecord& record : recorder.records(t.trainer.model())) {
    const Tensor& w = record.weights;
    for (int64_t head = 0; head < 2; ++head) {
      double entropy = 0, distance = 0;
      for (int64_t i = 0; i < w.dim(2); ++i)
        for (int64_t j = 0; j < w.dim(3); ++j) {
          const size_t at = static_cast<size_t>((head * w.dim(2) + i) * w.dim(3) + j);
          const double p = w.values()[at];
          entropy -= p > 0 ? p * std::log(p) : 0;
          distance += p * std::abs(static_cast<double>(i - j));
        }
      const auto of = [&](const char* what) {
        return heads.at(record.name).at(what).elements()[static_cast<size_t>(head)].number();
      };
      CHECK(of("entropy") == close_in_float(entropy / static_cast<double>(w.dim(2))));
      CHECK(of("distance") == close_in_float(distance / static_cast<double>(w.dim(2))));
    }
  }
}

TEST_CASE("statistics of steps: a model of each kind has them, at every thread count the same") {
  using Set = std::vector<std::string>;
  for (const Set& set :
       {Set{"model.kind=language_model", "data.kind=sort"},
        {"model.kind=classifier", "data.kind=set", "data.lengths=[2, 4]", "model.pool=learned"},
        {"model.kind=classifier", "data.kind=shapes", "model.activation=swiglu"},
        {"model.kind=classifier", "data.kind=graph", "data.lengths=[3, 5]",
         "model.block.mixing=graph_attention", "model.positional.kind=none"},
        {"model.kind=seq2seq", "data.kind=streams"}}) {
    const TemporaryFolder folder;
    write_file(folder / "c.toml",
               "[train]\nsteps = 2\nbatch_size = 4\nlog_every = 1\nstatistics = true\n"
               "samples = 0\n[model]\nlayers = 1\ndim = 12\nheads = 2\n[data]\n"
               "val_size = 20\ntest_size = 20\n");
    std::vector<std::string> rows[2];
    for (size_t threads : {1, 2}) {
      const std::string run = std::to_string(threads);
      Set arguments = {"train", "c.toml", "--run", run, "--set", "threads=" + run};
      for (const std::string& each : set) arguments.insert(arguments.end(), {"--set", each});
      const ProgramOutput output = heed_in(folder.path, arguments);
      REQUIRE_MESSAGE(output.code == 0, set[1], output.err);
      for (const Json& row : rows_with("statistics", folder / run + "/metrics.jsonl")) {
        rows[threads - 1].push_back(row.text());
        CHECK(row.at("statistics").at("layers").members().size() > 3);
      }
    }
    CHECK(rows[0].size() == 2);
    CHECK(rows[0] == rows[1]);
  }
}

TEST_CASE("train.statistics: changes no bit, and is resumed") {
  const TemporaryFolder folder;
  write_file(folder / "c.toml", tiny_config());
  const auto trained = [&](const std::string& run, std::vector<std::string> more) {
    more.insert(more.begin(), {"train", "c.toml", "--run", run, "--set", "model.dropout=0.2"});
    heed_ok(folder.path, more);
  };
  trained("off", {});
  trained("on", {"--set", "train.statistics=true"});
  trained("half", {"--until", "15", "--set", "train.statistics=true"});
  trained("half", {"--resume", "--set", "train.statistics=true"});
  for (const char* run : {"on", "half"})
    for (const char* file : {"model.safetensors", "optimizer.safetensors"})
      CHECK(sha256_of_file(folder / "off/checkpoints/latest/" + file) ==
            sha256_of_file(folder / std::string(run) + "/checkpoints/latest/" + file));
  CHECK(rows_with("statistics", folder / "off/metrics.jsonl").empty());
  const std::vector<Json> on = rows_with("statistics", folder / "on/metrics.jsonl");
  const std::vector<Json> half = rows_with("statistics", folder / "half/metrics.jsonl");
  REQUIRE(on.size() == 3);
  REQUIRE(half.size() == 3);
  for (size_t i = 0; i < 3; ++i) CHECK(on[i].text() == half[i].text());
}
