// Groups of runs that differ only in the seed: what belongs together, and what is counted.
#include "apps/experiments/groups.h"

#include <cmath>
#include <limits>

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
  const RunGroups groups = folder.grouped();
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
  CHECK(groups.groups[0].mean("val.loss")->mean == doctest::Approx(3.125 / 3));
  CHECK_FALSE(groups.groups[0].mean("test.loss").has_value());
  CHECK(groups.groups[0].runs[0].chosen_by == "val.loss");
  CHECK(best_group(groups, "val.loss") == 0);
  CHECK(best_group(groups, "val.exact_match") == 1);
  CHECK_FALSE(best_group(groups, "test.loss").has_value());
}

TEST_CASE("groups: threads and logs separate none, a run that repeats another is left out") {
  ScoredRuns folder;
  Experiment experiment;
  folder.add("a", experiment, R"({"val": {"loss": 1}})");
  experiment.threads = 3;
  experiment.train.log_every = 7;
  folder.add("b", experiment, R"({"val": {"loss": 1}})");
  const RunGroups groups = folder.grouped();
  REQUIRE(groups.groups.size() == 1);
  CHECK(groups.varying.empty());
  CHECK(groups.groups[0].runs.size() == 1);
  CHECK(groups.repeats == Names{folder / "b"});
  CHECK_FALSE(groups.repeats_over_seeds());
}

TEST_CASE("groups: a run without a score does not count") {
  ScoredRuns folder;
  folder.add("1", 1, 1e-3, 2);
  Experiment experiment;
  experiment.seed = 2;
  folder.add("2", experiment, "");  // is training
  experiment.seed = 3;
  folder.add("3", experiment, R"({"val": {"loss": null}})");  // infinite
  const RunGroups groups = folder.grouped();
  REQUIRE(groups.groups.size() == 1);
  CHECK(groups.groups[0].runs.size() == 3);
  CHECK(groups.groups[0].mean("val.loss")->n == 1);
}

TEST_CASE("groups: differences are paired by seed") {
  ScoredRuns folder;
  for (int64_t seed = 1; seed <= 6; ++seed) {
    folder.add(fmt::format("a/{}", seed), seed, 1e-3, 1 + 0.5 * (seed % 3));
    folder.add(fmt::format("b/{}", seed + 1), seed + 1, 2e-3,
               1 + 0.5 * ((seed + 1) % 3) + 0.125 * seed);
    folder.add(fmt::format("c/{}", seed), seed + 10, 3e-3, 1);
  }
  const std::vector<Comparison> all = compare_with_first(folder.grouped(), "val.loss");
  REQUIRE(all.size() == 2);
  CHECK(all[0].group == 1);
  CHECK(all[0].seeds == std::vector<int64_t>{2, 3, 4, 5, 6});
  CHECK(all[0].difference == 0.375);  // the mean of 1/8 … 5/8
  CHECK(all[0].interval.low > 0.125);
  CHECK(all[0].interval.high < 0.625);
  CHECK(all[0].p == 2. / 32);
  CHECK(all[0].adjusted_p == all[0].p);  // the other has no p
  CHECK(all[1].seeds.empty());
  CHECK(std::isnan(all[1].difference));
  CHECK(compare_with_first({}, "val.loss").empty());
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
  const RunGroups groups = folder.grouped();
  const auto median = [&](const char* text) {
    return median_reached(groups.groups[0], target(text));
  };
  CHECK(median("val.loss=2")->steps == 40);
  CHECK(median("val.loss=2")->seconds == 3.5);
  CHECK(median("val.loss=3")->steps == 20);
  CHECK(median("val.loss=1.5")->steps == never);
  CHECK_FALSE(median("loss=1")->seconds.has_value());
  CHECK_FALSE(median("val.bleu=1").has_value());
  CHECK(target("test.bleu=20").is_reached_by(21));
  CHECK(target("val.loss=2e-1").is_reached_by(0.1));
  for (const char* bad : {"", "val.loss", "=1", "val.loss=", "val.loss=1x", "val.loss=nan"})
    CHECK_CONTAINS(thrown<InputError>([&] { target(bad); }), "val.loss=1.88");
  write_file(groups.groups[0].runs[0].folder.metrics(), "{\"step\": 1}\n{]\n");
  CHECK_CONTAINS(thrown<InputError>([&] { median("val.loss=2"); }), "metrics.jsonl:2");
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
