// heed profile: rows add up to the step, counts match the model, and profiling does not change
// results. No test depends on the speed of the machine.
#include "lab/measure/profile.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "apps/cost/summary.h"
#include "apps/support/json.h"
#include "apps/training/trainer.h"
#include "core/parallel.h"
#include "core/pool.h"
#include "lab/measure/benchmark.h"
#include "program.h"

using namespace heed;

namespace {

struct Profiled {
  Experiment experiment;
  Corpus corpus;
  Profile profile;

  explicit Profiled(const std::string& size, int64_t steps = 2, int64_t accumulate = 1)
      : experiment(experiment_of(size, accumulate)),
        corpus(benchmark_corpus(benchmark_size(size))),
        profile(profile_training(experiment, corpus, steps)) {}

  static Experiment experiment_of(const std::string& size, int64_t accumulate) {
    Experiment e = benchmark_experiment(benchmark_size(size));
    e.train.accumulate = accumulate;
    return e;
  }
};

ProfileRow sum(const std::vector<ProfileRow>& rows) {
  ProfileRow all;
  for (const ProfileRow& row : rows) all += row;
  return all;
}

// Returns the number of calls of all operations whose name starts with `name`.
double calls(const std::vector<ProfileRow>& rows, const std::string& name) {
  double count = 0;
  for (const ProfileRow& row : rows)
    if (row.name.starts_with(name)) count += row.calls;
  return count;
}

const LayerRow& layer(const Profile& profile, const std::string& name) {
  const auto found = std::find_if(profile.layers.begin(), profile.layers.end(),
                                  [&](const LayerRow& row) { return row.name == name; });
  REQUIRE_MESSAGE(found != profile.layers.end(), name);
  return *found;
}

ProgramOutput run_profile(const std::string& where, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "profile");
  return heed_in(where, arguments);
}

}  // namespace

TEST_CASE("profile: operations and layers add up to the step") {
  for (const int64_t steps : {1, 2, 5}) {
    const Profile p = Profiled("tiny", steps).profile;
    CHECK(p.steps == steps);
    CHECK(p.seconds > 0);
    const double operations = sum(p.forward).seconds + sum(p.backward).seconds;
    double layers = 0;
    for (const LayerRow& row : p.layers) layers += row.forward.seconds + row.backward.seconds;
    CHECK(layers == doctest::Approx(operations));
    CHECK(operations + sum(p.rest).seconds == doctest::Approx(p.seconds));
    for (const auto* rows : {&p.forward, &p.backward, &p.rest})
      for (const ProfileRow& row : *rows) CHECK(row.seconds >= 0);
    std::vector<std::string> rest;
    for (const ProfileRow& row : p.rest) rest.push_back(row.name);
    std::sort(rest.begin(), rest.end());
    CHECK(rest == std::vector<std::string>{"batch preparation", "optimizer", "outside operations"});
  }
}

TEST_CASE("profile: the parts of a generated token add up to its time") {
  const BenchmarkSize& size = benchmark_size("babycpu");
  const int threads = thread_count();
  set_thread_count(2);
  for (const int64_t batch : {1, 3}) {
    const Profile p =
        profile_generation(benchmark_experiment(size), benchmark_corpus(size), {.batch = batch}, 2);
    CHECK(p.backward.empty());
    double parts = 0;
    for (const auto* rows : {&p.forward, &p.rest}) {
      CHECK(std::ranges::is_sorted(*rows, std::greater(), &ProfileRow::seconds));
      for (const ProfileRow& row : *rows) {
        CAPTURE(row.name);
        CHECK(row.seconds >= 0);
        parts += row.seconds;
      }
    }
    CHECK(p.seconds > 0);
    CHECK(parts == doctest::Approx(p.seconds));
    // Once a token: products, and for each layer the cache, which is also selected once.
    CHECK(calls(p.forward, "linear") == doctest::Approx(4 * (4 + 2) + 1));
    CHECK(calls(p.forward, "scaled_dot_product_attention") == doctest::Approx(4));
    CHECK(calls(p.rest, "sampling") == doctest::Approx(1));
    CHECK(calls(p.rest, "cache") == doctest::Approx(4 + 63.0 / 64));
    double flops = 0;
    for (const ProfileRow& row : p.forward)
      if (row.name == "linear") flops += row.cost.flops;
    CHECK(flops == doctest::Approx(2.0 * static_cast<double>(batch) *
                                   (4 * (4 * 128 * 128 + 2 * 128 * 512) + 65 * 128)));
  }
  set_thread_count(threads);
  const ProgramOutput table =
      succeeded(run_profile("/", {"--generate", "--size", "tiny", "--steps", "1", "--batch", "2"}));
  for (const char* part : {"a token of 2 texts of 32 takes ", "of token", "\n  linear ",
                           "\nsampling ", "\ncache ", "\noutside operations ", "\ntoken "})
    CHECK_CONTAINS(table.out, part);
  const ProgramOutput json =
      succeeded(run_profile("/", {"--generate", "--size", "tiny", "--steps", "1", "--json"}));
  const Json output = Json::parse(json.out, "out");
  double ms = 0;
  for (const char* rows : {"forward", "rest"})
    for (const Json& row : output.at(rows).elements()) ms += row.at("ms").number();
  CHECK(ms == doctest::Approx(output.at("profiled_token_ms").number()));
  check_rejected(run_profile("/", {"--generate"}), 2, {"--generate profiles a size"});
  check_rejected(run_profile("/", {"--generate", "--size", "reverse"}), 2, {"reverse is an enc"});
  check_rejected(run_profile("/", {"--size", "tiny", "--batch", "2"}), 2,
                 {"--batch is for --generate"});
  check_rejected(run_profile("/", {"--generate", "--size", "tiny", "--trace", "t"}), 2,
                 {"--trace is for training steps"});
}

TEST_CASE("profile: the number of calls matches the model") {
  for (const int64_t accumulate : {1, 3}) {
    CAPTURE(accumulate);
    const auto micro_batches = static_cast<double>(accumulate);
    const Profile p = Profiled("tiny", 4, accumulate).profile;
    for (const auto* rows : {&p.forward, &p.backward}) {
      CHECK(calls(*rows, "linear") == doctest::Approx(micro_batches * (2 * (4 + 2) + 1)));
      CHECK(calls(*rows, "layer_norm") == doctest::Approx(micro_batches * (2 * 2 + 1)));
      CHECK(calls(*rows, "scaled_dot_product_attention") == doctest::Approx(micro_batches * 2));
      CHECK(calls(*rows, "embedding") == doctest::Approx(micro_batches * 1));
    }
    CHECK(sum(p.backward).calls == doctest::Approx(sum(p.forward).calls));
    CHECK(calls(p.rest, "optimizer") == doctest::Approx(1));
    CHECK(calls(p.rest, "batch preparation") == doctest::Approx(1));
  }
  const Profile p = Profiled("reverse", 1).profile;
  CHECK(calls(p.forward, "linear") == 2 * (4 + 2) + 2 * (4 + 4 + 2) + 1);
  CHECK(calls(p.backward, "scaled_dot_product_attention") == 2 + 2 * 2);
}

TEST_CASE("profile: FLOPs match the summary, in total and in each layer") {
  for (const char* size : {"tiny", "reverse"}) {
    const Profiled run(size, 2, 2);
    const Summary summary = summarize(run.experiment, run.corpus);
    CHECK(sum(run.profile.forward).cost.flops == doctest::Approx(summary.flops.forward));
    CHECK(sum(run.profile.backward).cost.flops == doctest::Approx(summary.flops.backward));
    for (const SummaryPart& part : summary.parts)
      for (int64_t i = 0; i < part.layers; ++i) {
        if (part.flops.total() == 0) continue;
        std::string name = part.name;
        if (const size_t range = name.find("0-1"); range != name.npos)
          name.replace(range, 3, std::to_string(i));
        CAPTURE(name);
        CHECK(layer(run.profile, name).forward.cost.flops == doctest::Approx(part.flops.forward));
        CHECK(layer(run.profile, name).backward.cost.flops == doctest::Approx(part.flops.backward));
      }
  }
}

TEST_CASE("profile: frozen weights have no matrix product in backward") {
  Experiment experiment = Profiled::experiment_of("tiny", 1);
  experiment.train.freeze = {"decoder.layers.1.feed_forward.*"};
  const Corpus corpus = benchmark_corpus(benchmark_size("tiny"));
  const Profile p = profile_training(experiment, corpus, 1);
  const Summary summary = summarize(experiment, corpus);
  CHECK(sum(p.backward).cost.flops == doctest::Approx(summary.flops.backward));
  const auto& trained = layer(p, "decoder.layers.0.feed_forward").backward.cost;
  const auto& frozen = layer(p, "decoder.layers.1.feed_forward").backward.cost;
  CHECK(frozen.flops == doctest::Approx(trained.flops / 2));
  CHECK(frozen.bytes < trained.bytes);
  CHECK(p.memory.gradients < p.memory.parameters);
  CHECK(p.memory.optimizer == doctest::Approx(2 * p.memory.gradients));
}

TEST_CASE("profile: profiling does not change the loss") {
  const Profiled run("tiny", 3);
  Trainer trainer(run.experiment, run.corpus);
  double loss = 0;
  for (int i = 0; i < 3 + 2 * 3; ++i) loss = trainer.step().loss;
  CHECK(run.profile.loss == loss);
  CHECK(run.profile.unprofiled_seconds > 0);
}

TEST_CASE("profile: peak memory equals the peak of the pool and the sum of its holders") {
  for (const char* size : {"tiny", "reverse"}) {
    const Experiment experiment = Profiled::experiment_of(size, 1);
    const Corpus corpus = benchmark_corpus(benchmark_size(size));
    int64_t peak = 0;
    pool_trim();  // a reused larger block would count with its full size
    const int64_t at_first = pool_statistics().live_bytes;
    {
      Trainer trainer(experiment, corpus);
      for (int i = 0; i < 4; ++i) trainer.step();
      pool_reset_peak();
      trainer.step();
      peak = pool_statistics().peak_bytes - at_first;
    }
    REQUIRE(pool_statistics().live_bytes == at_first);
    pool_trim();
    const StepMemory m = profile_training(experiment, corpus, 1).memory;
    CHECK(m.peak - static_cast<double>(at_first) == static_cast<double>(peak));
    CHECK(m.peak == m.parameters + m.gradients + m.optimizer + m.before + m.held(Pass::forward) +
                        m.held(Pass::backward) + m.held(Pass::other));
    CHECK(m.parameters == 4 * static_cast<double>(summarize(experiment, corpus).parameters));
    CHECK(m.gradients == m.parameters);
    CHECK(m.optimizer == 2 * m.parameters);
    CHECK(m.held(Pass::forward) > m.held(Pass::other));
    CHECK(m.moment != "");
    for (size_t i = 1; i < m.holders.size(); ++i)
      CHECK(m.holders[i].bytes <= m.holders[i - 1].bytes);
  }
}

namespace {

struct Span {
  int64_t begin, end;  // nanoseconds
};

int64_t nanoseconds(const Json& microseconds) { return std::llround(1e3 * microseconds.number()); }

// Checks that each span lies within the enclosing span or after it.
void check_nested(std::vector<Span> spans) {
  std::stable_sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  std::vector<Span> open;
  for (const Span& span : spans) {
    CHECK(span.begin <= span.end);
    while (!open.empty() && open.back().end <= span.begin && open.size() > 1) open.pop_back();
    if (!open.empty()) CHECK(span.end <= open.back().end);
    open.push_back(span);
  }
}

}  // namespace

TEST_CASE("profile: the trace is JSON with nested events for all operations") {
  const Profile p = Profiled("reverse", 3).profile;
  const Json trace = Json::parse(chrome_trace(p), "trace");
  std::vector<Span> spans;
  std::map<std::string, int64_t> operations;  // by category and name
  for (const Json& event : trace.elements()) {
    CHECK(event.at("ph").string() == "X");
    CHECK(event.at("pid").integer() == 1);
    CHECK(event.at("tid").integer() == 1);
    const int64_t begin = nanoseconds(event.at("ts"));
    spans.push_back({begin, begin + nanoseconds(event.at("dur"))});
    if (const Json* arguments = event.find("args"); arguments && arguments->find("part"))
      ++operations[event.at("cat").string() + " " + event.at("name").string()];
  }
  REQUIRE(!spans.empty());
  CHECK(trace.elements()[0].at("name").string() == "step");
  CHECK(spans[0].begin == 0);
  CHECK(spans[0].end == p.trace_nanoseconds);
  check_nested(spans);
  for (const ProfileRow& row : p.forward)
    CHECK(static_cast<double>(operations["forward " + row.name]) == doctest::Approx(row.calls));
  for (const ProfileRow& row : p.backward)
    CHECK(static_cast<double>(operations["backward " + row.name]) == doctest::Approx(row.calls));
  const std::string text = trace.text();
  CHECK_CONTAINS(text, R"("name":"decoder.layers.1.cross_attention","cat":"backward")");
  CHECK_CONTAINS(text, R"("part":"encoder.layers.0.feed_forward.up","inputs":["[32, 26, 64]",)");
}

TEST_CASE("profile: a cache explains the rows above the limit, if there are any") {
  Profile p;
  CHECK(highest_fraction_of_limit(p) == 0);
  const auto row = [](double seconds, double least) {
    ProfileRow r;
    r.seconds = seconds;
    r.least_seconds = least;
    return r;
  };
  p.forward = {row(2, 1), row(0, 0)};
  p.backward = {row(4, 3)};
  CHECK(highest_fraction_of_limit(p) == 0.75);
  p.rest = {row(1, 1.5)};
  p.layers = {{"a", row(2, 3), row(2, 5)}};
  CHECK(highest_fraction_of_limit(p) == 2);

  const TemporaryFolder folder;
  write_file(folder / "c.toml", tiny_config());
  const ProgramOutput output = succeeded(run_profile(folder.path, {"c.toml", "--steps", "1"}));
  bool is_above = false;
  std::istringstream lines(output.out);
  for (std::string line; std::getline(lines, line);)
    if (line.ends_with(" %") && std::stod(line.substr(line.rfind("  "))) > 100) is_above = true;
  CHECK((output.out.find("\nof limit: above 100 % the data were in a cache") != output.out.npos) ==
        is_above);
}

TEST_CASE("profile: prints tables and JSON") {
  const TemporaryFolder folder;
  write_file(folder / "c.toml", tiny_config());
  const ProgramOutput table = succeeded(run_profile(folder.path, {"c.toml", "--steps", "2"}));
  CHECK(table.err == "");
  for (const char* part : {"GFLOP/s", "\nforward ", "\n  linear ", "\nbackward ", "\noptimizer ",
                           "\nbatch preparation ", "\noutside operations ", "\nstep ",
                           "\ndecoder.layers.0.cross_attention ", "\nhead ", "\npeak ",
                           "\n  optimizer state ", "of 2 profiled"})
    CHECK_CONTAINS(table.out, part);
  for (const char* invalid : {"nan", "inf"}) CHECK(table.out.find(invalid) == table.out.npos);
  CHECK(names_in_folder(folder.path) == std::vector<std::string>{"c.toml"});

  const ProgramOutput json =
      succeeded(run_profile(folder.path, {"c.toml", "--steps", "1", "--json", "--set", "threads=1",
                                          "--trace", "step.json"}));
  CHECK_CONTAINS(json.err, "step.json: one step, for https://ui.perfetto.dev");
  const Json output = Json::parse(json.out, "out");
  double ms = 0, layers = 0;
  for (const char* rows : {"forward", "backward", "rest"})
    for (const Json& row : output.at(rows).elements()) {
      ms += row.at("ms").number();
      if (std::string(rows) == "rest") layers += row.at("ms").number();
    }
  for (const Json& row : output.at("layers").elements())
    layers += row.at("forward").at("ms").number() + row.at("backward").at("ms").number();
  CHECK(ms == doctest::Approx(output.at("profiled_step_ms").number()));
  CHECK(layers == doctest::Approx(ms));
  CHECK(output.at("threads").integer() == 1);
  CHECK(output.at("gemm_gflops_per_s").number() > 0);
  CHECK(output.at("memory_gb_per_s").number() > 0);
  CHECK(output.at("memory_bytes").at("peak").number() > 0);
  CHECK(Json::parse(read_file(folder / "step.json", "trace"), "trace").elements().size() > 50);
}

TEST_CASE("profile: a size of heed bench") {
  const TemporaryFolder folder;
  const ProgramOutput output = succeeded(run_profile(
      folder.path, {"--size", "micro", "--steps", "1", "--json", "--set", "train.accumulate=2"}));
  const Json json = Json::parse(output.out, "out");
  const auto calls_of = [&](const std::string& name) {
    for (const Json& row : json.at("forward").elements())
      if (row.at("name").string() == name) return row.at("calls").number();
    return 0.0;
  };
  CHECK(calls_of("scaled_dot_product_attention") == 2);
}

TEST_CASE("profile: rejects invalid arguments before training") {
  const TemporaryFolder folder;
  write_file(folder / "c.toml", tiny_config());
  const auto rejects = [&](const std::vector<std::string>& arguments, const std::string& part) {
    CAPTURE(part);
    check_rejected(run_profile(folder.path, arguments), 2, {part});
  };
  rejects({}, "expected CONFIG, RUN or --size");
  rejects({"c.toml", "--size", "tiny"}, "expected CONFIG, RUN or --size");
  rejects({"--size", "tin"}, "did you mean 'tiny'");
  rejects({"--size", "tiny", "--set", "train.shards=3"}, "train.shards");
  rejects({"none.toml"}, "none.toml: cannot read");
  rejects({"c.toml", "--set", "model.layer=2"}, "did you mean");
  for (const char* steps : {"0", "101", "many"}) rejects({"c.toml", "--steps", steps}, "--steps");
  rejects({"c.toml", "--set", "model.dim=65536", "--set", "model.layers=20"}, "of memory");
  for (const std::string& path :
       {std::string("."), folder.path, std::string("none/step.json"), std::string("step.json/"),
        std::string("c.toml/step.json"), std::string("/dev/null"), std::string(5000, 'a'),
        std::string(254, 'a')})
    rejects({"c.toml", "--trace", path}, path.substr(0, 40) + (path.size() > 40 ? "" : ": "));
  rejects({"c.toml", "--trace", ""}, "--trace: expected a value");
  CHECK(names_in_folder(folder.path) == std::vector<std::string>{"c.toml"});
}
