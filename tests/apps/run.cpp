// apps/run: a folder that is never overwritten, one writer at a time, metrics cut back on resume.
#include "apps/training/run.h"

#include <doctest/doctest.h>

#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

#include "apps/support/files.h"
#include "core/check.h"
#include "disk_limits.h"
#include "temporary.h"

using namespace heed;

namespace {

Json row(int64_t step) { return Json::object().set("step", step).set("loss", 0.1); }

void append(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::app) << text;
}

}  // namespace

TEST_CASE("run: a run is never overwritten") {
  const TemporaryFolder folder;
  const RunFolder run = RunFolder::create(folder / "runs/a");
  const RunLock lock(run);
  CHECK(RunFolder::create(folder / "runs/a").path() == run.path());  // nothing in it yet
  CHECK_SAYS(thrown<InputError>([&] { RunFolder::open(run.path()); }), "it has no config.toml");
  write_file(run.config(), "seed = 1\n");
  CHECK_SAYS(thrown<InputError>([&] { RunFolder::create(run.path()); }),
             "not empty (it has config.toml); resume the run with --resume --run");
  CHECK(RunFolder::open(run.path() + "/").config() == run.config());
  CHECK_SAYS(thrown<InputError>([&] { RunFolder::open(folder / "b"); }), "b: no such run");
  CHECK_SAYS(thrown<InputError>([&] { RunFolder::create(run.config()); }),
             "expected a folder, found a file; choose another");
  CHECK_SAYS(thrown<Error>([&] { RunFolder::create("/proc/no/run"); }), "cannot create the folder");
}

TEST_CASE("run: a new run is named after its config and the time") {
  const std::string path = new_run_path("configs/some.thing.toml");
  CHECK(path.starts_with("runs/some.thing-2"));
  CHECK(path.size() == std::string("runs/some.thing-20250101-120000").size());
}

TEST_CASE("run: two do not train in one run") {
  const TemporaryFolder folder;
  const RunFolder run = RunFolder::create(folder / "a");
  {
    const RunLock lock(run);
    CHECK_SAYS(thrown<InputError>([&] { const RunLock second(run); }),
               "process " + std::to_string(::getpid()) + " is training in it");
  }
  const pid_t child = ::fork();
  if (child == 0) {
    const RunLock lock(run);
    ::_exit(0);  // as if killed: nothing is given back by hand
  }
  ::waitpid(child, nullptr, 0);
  CHECK(thrown<InputError>([&] { const RunLock lock(run); }) == "");
}

TEST_CASE("run: metrics go on behind the last step of a checkpoint") {
  const TemporaryFolder folder;
  const std::string path = folder / "metrics.jsonl";
  {
    MetricsFile metrics(path, 0);
    for (const int64_t step : {1, 2, 2, 3}) metrics.write(row(step));
    metrics.sync();
  }
  CHECK(read_file(path, "text") ==
        "{\"step\":1,\"loss\":0.1}\n{\"step\":2,\"loss\":0.1}\n{\"step\":2,\"loss\":0.1}\n"
        "{\"step\":3,\"loss\":0.1}\n");
  append(path, "{\"step\":3,\"lo");
  { MetricsFile(path, 2).write(row(9)); }
  CHECK(read_file(path, "text") ==
        "{\"step\":1,\"loss\":0.1}\n{\"step\":2,\"loss\":0.1}\n{\"step\":2,\"loss\":0.1}\n"
        "{\"step\":9,\"loss\":0.1}\n");
  for (const std::string& torn : {std::string("{\"step\":10"), std::string(100, '\0'),
                                  std::string("{\"step\":10,\"a\"\n{\"step\":10}\n")}) {
    append(path, torn);
    { const MetricsFile metrics(path, 100); }
    CHECK(read_file(path, "text").ends_with("{\"step\":9,\"loss\":0.1}\n"));
  }
  { const MetricsFile metrics(path, 0); }
  CHECK(read_file(path, "text") == "");
}

TEST_CASE("run: a full disk stops the metrics with a word about it") {
  const TemporaryFolder folder;
  MetricsFile metrics(folder / "metrics.jsonl", 0);
  const FileSizeLimit limit(100);
  const std::string said = thrown<Error>([&] {
    for (int64_t step = 1; step < 100; ++step) metrics.write(row(step));
  });
  CHECK_SAYS(said, "metrics.jsonl: cannot write: ");
  CHECK_SAYS(said, "make room on the disk");
}
