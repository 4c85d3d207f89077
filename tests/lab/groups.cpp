// Groups of runs that differ only in the seed: what belongs together, and what is counted.
#include "lab/experiments/groups.h"

#include <limits>

#include "core/joined.h"
#include "data/file_splits.h"
#include "lab/experiments/effects.h"
#include "scored_runs.h"

using namespace heed;

namespace {

constexpr double never = std::numeric_limits<double>::infinity();
using Names = std::vector<std::string>;

ScoreTarget target(const std::string& text) { return ScoreTarget::parse(text); }

}  // namespace

TEST_CASE("groups: runs that differ only in the seed belong together") {
  ScoredRuns folder;
  for (int64_t seed : {10, 2, 1}) {
    folder.add(fmt::format("sweep/lr=1/seed-{}", seed), seed, 1e-3, 0.5 + 0.125 * seed);
    folder.add(fmt::format("sweep/lr=2/seed-{}", seed), seed, 2e-3, 0.25 * seed);
  }
  const SeedGroups groups = folder.grouped();
  CHECK(groups.varying == Names{"optim.lr"});
  CHECK(groups.repeats_over_seeds());
  CHECK(groups.repeats.empty());
  CHECK(score_names(groups.groups[0].runs) == Names{"steps", "val.loss", "val.exact_match"});
  REQUIRE(groups.groups.size() == 2);
  CHECK(groups.groups[0].values == Names{"0.001"});
  CHECK(groups.groups[1].values == Names{"0.002"});
  CHECK(groups.groups[0].numbers("val.loss") == std::vector<double>{0.625, 0.75, 1.75});
  CHECK(groups.groups[0].best("val.loss") == 0.625);
  CHECK(groups.groups[0].best("val.exact_match") == 1.75);
  CHECK(groups.mean(0, "val.loss")->mean == doctest::Approx(3.125 / 3));
  CHECK_FALSE(groups.mean(0, "test.loss").has_value());
  CHECK(groups.groups[0].runs[0].chosen_by == "val.loss");
  CHECK(best_group(groups, "val.loss").index == 0);
  CHECK(best_group(groups, "val.exact_match").index == 1);
  CHECK_FALSE(best_group(groups, "test.loss").index.has_value());
}

TEST_CASE("groups: threads and logs separate none, a run that repeats another is left out") {
  ScoredRuns folder;
  Experiment experiment;
  folder.add("a", experiment, R"({"val": {"loss": 1}})");
  experiment.threads = 3;
  experiment.train.log_every = 7;
  folder.add("b", experiment, R"({"val": {"loss": 1}})");
  const SeedGroups groups = folder.grouped();
  REQUIRE(groups.groups.size() == 1);
  CHECK(groups.varying.empty());
  CHECK(groups.groups[0].runs.size() == 1);
  CHECK(groups.repeats == Names{folder / "b"});
  CHECK_FALSE(groups.repeats_over_seeds());
}

TEST_CASE(
    "groups: a run that was lengthened differs from one that was as long from its beginning") {
  ScoredRuns folder;
  Experiment experiment;
  experiment.train.steps = 30;
  for (const char* run : {"long", "longer"}) folder.add(run, experiment, R"({"val": {"loss": 1}})");
  write_file(folder / "longer/run.json",
             R"({"sessions": [{"format": 1, "heed": "0.2.0", "from_step": 20, )"
             R"("changed": {"train.steps": ["20", "30"]}}]})");
  const SeedGroups groups = folder.grouped();
  CHECK(groups.varying == Names{"train.steps"});
  REQUIRE(groups.groups.size() == 2);
  CHECK(groups.groups[0].values == Names{"30"});
  CHECK(groups.groups[1].values == Names{"20, 30 from step 20"});
}

TEST_CASE("groups: a run without a score does not count") {
  ScoredRuns folder;
  folder.add("1", 1, 1e-3, 2);
  Experiment experiment;
  experiment.seed = 2;
  folder.add("2", experiment, "");  // is training
  experiment.seed = 3;
  folder.add("3", experiment, R"({"val": {"loss": null}})");  // infinite
  const SeedGroups groups = folder.grouped();
  REQUIRE(groups.groups.size() == 1);
  CHECK(groups.groups[0].runs.size() == 3);
  CHECK(groups.mean(0, "val.loss")->n == 1);
}

TEST_CASE("groups: steps and seconds to a target") {
  ScoredRuns folder;
  const char* const metrics[] = {
      R"({"step": 10, "loss": 1}
{"step": 20, "seconds": 1.5, "val": {"loss": 3}}
{"step": 40, "seconds": 3.5, "val": {"loss": 2}}
{"step": 60, "seconds": 5.5, "val": {"loss": 2.5}}
)",
      R"({"step": 20, "seconds": 2.5, "val": {"loss": 2}}
{"step": 40, "seconds": 9.5, "val": {"loss": 1)",  // is being written
      R"({"step": 20, "seconds": 2.5, "val": {"loss": 5}}
)"};
  for (int64_t seed = 1; seed <= 3; ++seed)
    write_file(folder.add(std::to_string(seed), seed, 1e-3, 1) + "/metrics.jsonl",
               metrics[seed - 1]);
  const SeedGroups groups = folder.grouped();
  const auto median = [&](const char* text) {
    return median_reached(groups.groups[0], target(text));
  };
  CHECK(median("val.loss=2")->steps == 40);
  CHECK(median("val.loss=2")->seconds == 3.5);
  CHECK(median("val.loss=3")->steps == 20);
  CHECK(median("val.loss=1.5")->steps == never);
  CHECK(median("val.loss=1.5")->reached == 0);
  CHECK(median("val.loss=1.5")->last_step == 60);
  CHECK(median("val.loss=1.5")->last_seconds == 5.5);
  CHECK_FALSE(median("loss=1")->seconds.has_value());
  CHECK_FALSE(median("val.bleu=1").has_value());
  CHECK(target("test.bleu=20").is_reached_by(21));
  CHECK(target("val.loss=2e-1").is_reached_by(0.1));
  for (const char* bad : {"", "val.loss", "=1", "val.loss=", "val.loss=1x", "val.loss=nan"})
    CHECK_CONTAINS(thrown<InputError>([&] { target(bad); }), "val.loss=1.88");
  write_file(groups.groups[0].runs[0].folder.metrics(), "{\"step\": 1}\n{]\n");
  CHECK_CONTAINS(thrown<InputError>([&] { median("val.loss=2"); }), "metrics.jsonl:2");
}

TEST_CASE("groups: a seed that never reached the target counts as later than all others") {
  ScoredRuns folder;
  const auto add = [&](int64_t seed, double loss, int64_t last_step) {
    write_file(folder.add(std::to_string(seed), seed, 1e-3, 1) + "/metrics.jsonl",
               fmt::format("{{\"step\": {0}, \"seconds\": {0}, \"val\": {{\"loss\": {1}}}}}\n"
                           "{{\"step\": {2}, \"seconds\": {2}, \"loss\": 1}}\n",
                           10 * seed, loss, last_step));
  };
  const auto median = [&] {
    return *median_reached(folder.grouped().groups[0], target("val.loss=2"));
  };
  add(1, 2, 100);
  add(2, 2, 100);
  add(3, 3, 200);
  CHECK(median().steps == 20);
  CHECK(median().reached == 2);
  add(4, 3, 300);  // the median of an even number lies between seeds 2 and 3
  CHECK(median().steps == never);
  CHECK(median().seconds == never);
  CHECK(median().last_step == 300);
  add(5, 3, 100);
  CHECK(median().steps == never);
  CHECK(median().runs == 5);
}

TEST_CASE("groups: runs in the folder of a sweep are in the order of its points") {
  ScoredRuns folder;
  write_file(folder / "base.toml", "seed = 1\n");
  write_file(folder / "sweep.toml",
             "config = \"base.toml\"\nseeds = [1, 2]\n[axes]\n\"optim.lr\" = [3e-3, 1e-3]\n"
             "\"model.positional.kind\" = [\"sinusoidal\", \"learned\"]\n");
  Experiment experiment;
  const PositionalRule* const kinds[] = {&positional_encodings::learned,
                                         &positional_encodings::rotary,
                                         &positional_encodings::sinusoidal};
  for (experiment.seed = 1; experiment.seed <= 2; ++experiment.seed)
    for (const double lr : {1e-3, 3e-3})
      for (const PositionalRule* kind : kinds) {
        experiment.optim.lr = lr;
        experiment.model.positional.kind = kind;
        folder.add(fmt::format("lr={},kind={}/seed-{}", lr, kind->name, experiment.seed),
                   experiment, R"({"val": {"loss": 1}})");
      }
  const SeedGroups groups = folder.grouped();
  Names order;
  for (const SeedGroup& group : groups.groups) {
    CHECK(group.runs.size() == 2);
    order.push_back(group.values[0] + " " + group.values[1]);
  }
  CHECK(groups.varying == Names{"model.positional.kind", "optim.lr"});
  CHECK(order == Names{"sinusoidal 0.003", "learned 0.003", "sinusoidal 0.001", "learned 0.001",
                       "rotary 0.001", "rotary 0.003"});
  write_file(folder / "sweep.toml", "config = \"base.toml\"\naxes = 3\n");
  CHECK_CONTAINS(thrown<InputError>([&] { folder.grouped(); }), "sweep.toml:2");
}

TEST_CASE("groups: keys that a run does not use separate none and are no columns") {
  ScoredRuns folder;
  Experiment experiment;
  const auto add = [&](const char* name) {
    for (experiment.seed = 1; experiment.seed <= 2; ++experiment.seed)
      folder.add(fmt::format("{}{}", name, experiment.seed), experiment, R"({"val": {"loss": 1}})");
  };
  experiment.model.positional.kind = &positional_encodings::learned;
  add("learned");
  experiment.model.positional.base = 500;
  add("learned with a base");  // which only sinusoids have
  experiment.model.positional.kind = &positional_encodings::sinusoidal;
  add("sinusoidal");
  experiment.model.positional.buckets = 8;  // neither uses them
  add("with buckets");
  const SeedGroups two = folder.grouped();
  CHECK(two.varying == Names{"model.positional.kind"});  // all that use the base have the same one
  CHECK(two.groups.size() == 2);
  CHECK(two.repeats.size() == 4);

  experiment.model.positional.base = 1000;
  add("with another base");
  const SeedGroups groups = folder.grouped();
  CHECK(groups.varying == Names{"model.positional.kind", "model.positional.base"});
  REQUIRE(groups.groups.size() == 3);
  CHECK(groups.groups[0].values == Names{"learned", "-"});
  CHECK(groups.groups[1].values == Names{"sinusoidal", "500.0"});
  CHECK(groups.groups[2].values == Names{"sinusoidal", "1000.0"});
}

TEST_CASE("groups: a folder of runs stands for the runs in it") {
  ScoredRuns folder;
  const std::string b = folder.add("s/b/seed-1", 1, 1e-3, 1), a = folder.add("s/a", 1, 2e-3, 1);
  folder.add("s/.hidden", 1, 3e-3, 1);
  CHECK(find_runs({folder / "s"}) == Names{a, b});
  CHECK(find_runs({b, folder / "s/a"}) == Names{b, a});
  const std::string ninth = folder.add("t/lr=0.0005/seed-9", 9, 5e-4, 1),
                    tenth = folder.add("t/lr=0.0005/seed-10", 10, 5e-4, 1),
                    larger = folder.add("t/lr=0.001/seed-1", 1, 1e-3, 1);
  CHECK(find_runs({folder / "t"}) == Names{ninth, tenth, larger});
  make_folders(folder / "empty");
  CHECK_CONTAINS(thrown<InputError>([&] { find_runs({folder / "empty"}); }),
                 "neither a run nor a folder of runs");
  CHECK(find_runs({folder / "none"}) == Names{folder / "none"});  // load() says what is wrong
}

namespace {

// Runs on a file of pairs. `content` stands for the hash of what the file contains.
struct RunsOnFiles : ScoredRuns {
  static Experiment experiment(int64_t seed, const std::string& file, double lr = 1e-3) {
    Experiment experiment;
    experiment.seed = seed;
    experiment.optim.lr = lr;
    experiment.data.kind = &data_kinds::pairs;
    experiment.data.path = file;
    return experiment;
  }
  static std::string record(const std::string& fingerprint) {
    return record_of_run(fmt::format(R"(, "data": "{}")", fingerprint));
  }
  std::string add_run(const std::string& name, const Experiment& e, uint64_t content,
                      double loss = 1) {
    const std::string run = add(name, e, fmt::format(R"({{"val": {{"loss": {}}}}})", loss));
    const uint64_t fingerprint = stable_hash(describe(e.data), content);
    write_file(run + "/run.json", record(fmt::format("{:016x}", fingerprint)));
    return run;
  }
};

}  // namespace

TEST_CASE("groups: data are the same wherever their file is, and others at the same path") {
  RunsOnFiles folder;
  for (int64_t seed : {1, 2}) {  // each with its own copy
    Experiment kept = folder.experiment(seed, fmt::format("/s/{}/data/d.tsv", seed));
    kept.data.keep = seed == 1;
    folder.add_run(fmt::format("s/{}", seed), kept, 77);
  }
  const SeedGroups same = folder.grouped();
  REQUIRE(same.groups.size() == 1);
  CHECK(same.varying.empty());
  CHECK(same.groups[0].runs.size() == 2);
  CHECK(differing_keys({&same.groups[0].runs[0], &same.groups[0].runs[1]}) ==
        Names{"seed", "data.keep"});

  folder.add_run("s/3", folder.experiment(1, "/s/2/data/d.tsv"), 78, 0.5);
  folder.add_run("s/4", folder.experiment(3, "/s/2/data/d.tsv"), 78, 0.5);
  Experiment shuffled = folder.experiment(1, "/s/2/data/d.tsv");
  shuffled.data.bucketing = 4;  // changes Corpus::fingerprint, not the files
  folder.add_run("s/5", shuffled, 77, 3);
  const SeedGroups other = folder.grouped();
  REQUIRE(other.groups.size() == 3);
  CHECK(other.varying == Names{"data.bucketing", "data"});
  CHECK(other.groups[0].values == Names{"1", "000000000000004d"});
  CHECK(other.groups[1].values == Names{"1", "000000000000004e"});
  CHECK(other.groups[2].values == Names{"4", "000000000000004d"});
  CHECK(other.mean(1, "val.loss")->n == 2);
  const Effects effects = effects_on(other, "val.loss");
  CHECK_FALSE(effects.groups[0].same_data);
  CHECK(effects.groups[0].seeds.empty());
  CHECK(effects.groups[1].effect.size == doctest::Approx(3));
  CHECK(effects.keys.size() == 1);
  CHECK(effects.keys[0].keys == Names{"data.bucketing"});
  CHECK_CONTAINS(joined(warnings_of(effects, other)),
                 "1 of 2 other groups has other data than data.bucketing = 1, data = ");
}

TEST_CASE("groups: an axis of files is shown by their paths") {
  RunsOnFiles folder;
  for (int64_t seed : {1, 2}) {
    folder.add_run(fmt::format("a/{}", seed), folder.experiment(seed, "/a.tsv"), 77);
    folder.add_run(fmt::format("b/{}", seed), folder.experiment(seed, "/b.tsv"), 78);
  }
  CHECK(folder.grouped().varying == Names{"data.path"});
}

TEST_CASE("groups: a missing or damaged record is one line") {
  RunsOnFiles folder;
  const std::string run = folder.add_run("1", folder.experiment(1, "/d.tsv"), 77);
  folder.add_run("2", folder.experiment(2, "/d.tsv"), 77);
  CHECK(folder.grouped().groups.size() == 1);
  remove_all(run + "/run.json");
  CHECK_CONTAINS(thrown<InputError>([&] { folder.load(); }), run + "/run.json: missing");
  for (const std::string& damaged :
       {std::string("{"), std::string(R"({"sessions": [{}]})"), record_of_run(),
        folder.record("4d"), folder.record("000000000000004d0"), folder.record("-00000000000004d"),
        folder.record("0x0000000000004d"), folder.record("\\u001b[31mred"),
        record_of_run(R"(, "data": 3)")}) {
    write_file(run + "/run.json", damaged);
    const std::string error = thrown<InputError>([&] { folder.load(); });
    CHECK_CONTAINS(error, run + "/run.json");
    CHECK_CONTAINS(error, "restore the file");
    CHECK(error.find_first_of("\n\x1b") == error.npos);
  }
}

TEST_CASE("groups: the best is one that has the score for all seeds") {
  ScoredRuns folder;
  for (int64_t seed : {1, 2}) {
    folder.add(fmt::format("a/{}", seed), seed, 1e-3, 2);
    folder.add(fmt::format("b/{}", seed), seed, 2e-3, 3);
  }
  folder.add("c/1", 1, 3e-3, 1);  // its other seed failed
  const BestGroup best = best_group(folder.grouped(), "val.loss");
  CHECK(best.index == 0);
  CHECK(best.left_out == std::vector<size_t>{2});
}
