// apps/config/named_run: runs/latest, and what a mistyped name may have meant.
#include "apps/config/named_run.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>

#include "apps/run/run.h"
#include "apps/support/json.h"
#include "program.h"

using namespace heed;

namespace {

// A folder with runs, of which only what says when they started is real.
struct NamedRuns : TemporaryFolder {
  // `start`: of the last session, "" for a run without a record; `seconds`: when config.toml was
  // written, in seconds after 2026-01-01T00:00:00Z.
  void add(const std::string& name, const std::string& start, double seconds = 0) const {
    const std::string run = path + "/" + name;
    make_folders(run);
    write_file(run + "/config.toml", "seed = 1\n");
    const auto whole = static_cast<time_t>(seconds);
    const timespec written{1767225600 + whole,
                           static_cast<long>((seconds - static_cast<double>(whole)) * 1e9)};
    const timespec times[] = {written, written};
    REQUIRE(::utimensat(AT_FDCWD, (run + "/config.toml").c_str(), times, 0) == 0);
    if (start.empty()) return;
    write_file(
        run + "/run.json",
        R"({"sessions": [{"start": "2026-01-01T00:00:00Z"}, {"start": ")" + start + "\"}]}\n");
  }
  std::string newest(const std::string& config = "") const { return newest_run(path, config); }
};

}  // namespace

TEST_CASE("named run: the newest is the one whose training started last") {
  const NamedRuns runs;
  CHECK(runs.newest() == "");
  CHECK(newest_run(runs / "none") == "");
  runs.add("b", "2026-01-01T00:00:05Z", 900);  // copied later
  CHECK(runs.newest() == runs / "b");
  runs.add("a", "2026-01-01T00:00:06Z");
  CHECK(runs.newest() == runs / "a");
  runs.add("no record", "", 7);
  CHECK(runs.newest() == runs / "no record");
  runs.add("c", "2026-01-01T00:00:08Z", 8.25);
  runs.add("d", "2026-01-01T00:00:08Z", 8.125);  // in the same second, but before
  CHECK(runs.newest() == runs / "c");
  write_file(runs / "c/run.json", "{");
  CHECK(runs.newest() == runs / "c");  // by its config.toml

  runs.add("sweep/seed-1", "2026-02-01T00:00:00Z");  // not directly in the folder
  runs.add(".hidden", "2026-02-01T00:00:00Z");
  point_link(runs / "link", "sweep/seed-1");
  write_file(runs / "file", "");
  CHECK(runs.newest() == runs / "c");
}

TEST_CASE("named run: the newest of a config has its name or one with a number") {
  const NamedRuns runs;
  runs.add("sort", "2026-01-01T00:00:01Z");
  runs.add("sort-3", "2026-01-01T00:00:02Z");
  for (const char* other :
       {"sort-sweep", "sort_longer", "sorted", "sort-2b", "sort-2-3", "sort-", "resort"})
    runs.add(other, "2026-01-01T00:00:04Z");
  CHECK(runs.newest("sort") == runs / "sort-3");
  CHECK(runs.newest("so") == "");
}

TEST_CASE("named run: latest stands for the newest, unless it is a run of yours") {
  const NamedRuns runs;
  const std::string latest = runs / "latest";
  CHECK(named_run(latest) == latest);
  runs.add("a", "2026-01-01T00:00:01Z");
  CHECK(named_run(latest) == runs / "a");
  CHECK(named_run(latest + "/") == runs / "a");
  CHECK(named_run(runs / "a") == runs / "a");
  CHECK(named_run(runs / "other") == runs / "other");
  CHECK(named_run("") == "");
  point_link(latest, "nowhere");
  CHECK(named_run(latest) == latest);
  remove_all(latest);
  runs.add("latest", "2025-01-01T00:00:01Z");
  CHECK(named_run(latest) == latest);
}

TEST_CASE("named run: an unknown name is answered with the nearest and the newest") {
  const NamedRuns runs;
  const std::string in = runs.path + "/";
  CHECK(no_such_run(in + "a") == in + "a: no such run");
  runs.add("reverse", "2026-01-01T00:00:01Z");
  CHECK(no_such_run(in + "revers/") ==
        in + "revers/: no such run; did you mean " + in + "reverse (the newest)?");
  CHECK(no_such_run(in + "x") == in + "x: no such run; the newest is " + in + "reverse");
  for (int i = 2; i < 6; ++i)
    runs.add(fmt::format("set-{}", i), fmt::format("2026-01-01T00:00:0{}Z", 9 - i));
  CHECK(no_such_run(in + "set") == in + "set: no such run; did you mean " + in +
                                       "set-2 (the newest) or " + in + "set-3 or " + in + "set-4?");
  CHECK(no_such_run(in + "reverze") == in + "reverze: no such run; did you mean " + in +
                                           "reverse or " + in + "set-2 (the newest)?");
}

TEST_CASE("named run: every command takes runs/latest") {
  const TemporaryFolder folder;
  write_file(folder / "tiny.toml", tiny_config());
  const auto heed = [&](const std::vector<std::string>& arguments, const std::string& input = "") {
    return heed_in(folder.path, arguments, input);
  };
  REQUIRE(heed({"train", "tiny.toml", "--set", "train.steps=2"}).code == 0);
  REQUIRE(heed({"train", "tiny.toml", "--set", "train.steps=3"}).code == 0);
  const std::string latest = "runs/latest";
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"evaluate", latest},
        {"generate", latest},
        {"attend", latest, "--example", "0"},
        {"summary", latest},
        {"data", latest},
        {"export", latest, "--output", "m.onnx"},
        {"compare", latest, "runs/tiny"},
        {"report", latest, "-o", "r.html"},
        {"profile", latest, "--steps", "1"},
        {"claims", "--model", latest, "--only", "A20"},
        {"train", "tiny.toml", "--run", "loaded", "--set", "train.load=runs/latest"},
        {"train", "--from", latest, "--run", "again"},
        {"train", "--resume", latest},
        {"train", "--resume", "--run", latest, "--set", "train.steps=4"}}) {
    if (!has_command(arguments[0])) continue;
    const ProgramOutput output = heed(arguments, "1 2\n");
    CHECK_MESSAGE(output.code == 0, arguments[0], ": ", output.err);
  }
  CHECK_CONTAINS(heed({"evaluate", latest}).out, "runs/tiny-2, step 4");
  CHECK(Run(folder / latest).step() == 4);
  CHECK_CONTAINS(read_file(folder / "loaded/config.toml", "config"), folder / "runs/tiny-2");
  REQUIRE(heed({"train", "--resume", "runs/tiny", "--set", "train.steps=5"}).code == 0);
  CHECK_CONTAINS(heed({"evaluate", latest}).out, "runs/tiny, step 5");  // resumed last
  check_rejected(heed({"evaluate", "runs/tinny"}), 2,
                 {"runs/tinny: no such run; did you mean runs/tiny (the newest)?"});
  check_rejected(heed({"summary", "tiny"}), 2,
                 {"tiny: no such run; did you mean runs/tiny (the newest) or runs/tiny-2?"});
}
