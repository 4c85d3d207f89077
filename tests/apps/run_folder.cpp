// apps/training/run: runs are not overwritten, have one writer, and truncate metrics on resume.
#include "apps/training/run_folder.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apps/support/files.h"
#include "apps/training/metrics.h"
#include "apps/training/run_writer.h"
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

TEST_CASE("run: create rejects an existing run") {
  const TemporaryFolder folder;
  const RunFolder run = RunFolder::create(folder / "runs/a");
  const RunWriter lock(run);
  CHECK(RunFolder::create(folder / "runs/a").path() == run.path());  // still empty
  CHECK_CONTAINS(thrown<InputError>([&] { RunFolder::open(run.path()); }), "it has no config.toml");
  write_file(run.record(), record_of_run());  // killed before it wrote a config
  CHECK(RunFolder::create(folder / "runs/a").path() == run.path());
  write_run(run.path(), "seed = 1\n");
  CHECK_CONTAINS(thrown<InputError>([&] { RunFolder::create(run.path()); }),
                 "not empty (it has config.toml); resume the run with --resume --run");
  CHECK(RunFolder::open(run.path() + "/").config() == run.config());
  CHECK_CONTAINS(thrown<InputError>([&] { RunFolder::open(folder / "b"); }), "b: no such run");
  CHECK_CONTAINS(thrown<InputError>([&] { RunFolder::create(run.config()); }),
                 "expected a folder, found a file; choose another");
  CHECK_CONTAINS(thrown<Error>([&] { RunFolder::create("/proc/no/run"); }),
                 "cannot create the folder");
}

TEST_CASE("run: new runs have the name of their config, and a number if it is taken") {
  const TemporaryFolder folder;
  const auto created = [&](const std::string& config) {
    return name_of(RunFolder::create_in(folder / "runs", config).path());
  };
  CHECK(created("configs/some.thing.toml") == "some.thing");
  CHECK(created("some.thing.toml") == "some.thing-2");
  CHECK(created(folder / "runs/some.thing/") == "some.thing-3");
  remove_all(folder / "runs/some.thing-2");
  CHECK(created("some.thing.toml") == "some.thing-2");
  write_file(folder / "runs/file", "");
  point_link(folder / "runs/file-2", "nowhere");
  CHECK(created("file.toml") == "file-3");
  CHECK(created("latest.toml") == "latest-1");  // runs/latest is the newest run
  CHECK(created("latest.toml") == "latest-2");

  // Processes that start at the same moment, each several runs.
  constexpr int processes = 8, runs = 8;
  for (int i = 0; i < processes; ++i)
    if (::fork() == 0) {
      for (int j = 0; j < runs; ++j)
        write_file(RunFolder::create_in(folder / "same", "c").config(), "");
      ::_exit(0);
    }
  while (::wait(nullptr) > 0) continue;
  std::vector<std::string> expected = {"c"};
  for (int i = 2; i <= processes * runs; ++i) expected.push_back("c-" + std::to_string(i));
  std::sort(expected.begin(), expected.end());
  CHECK(names_in_folder(folder / "same") == expected);
}

TEST_CASE("run: files that are links, devices or FIFOs are rejected") {
  const TemporaryFolder folder;
  write_file(folder / "other", "{}");
  make_folders(folder / "elsewhere/step-5");
  const auto error_of = [&](const std::string& name, auto&& put) {
    const RunFolder run = RunFolder::create(folder / "r");
    write_run(run.path(), "seed = 1\n");
    make_folders(run.path() + "/checkpoints/step-1");
    write_file(run.path() + "/checkpoints/step-1/state.json", "{}");
    make_folders(run.path() + "/snapshots");
    REQUIRE(thrown<InputError>([&] { RunFolder::open(run.path()); }) == "");
    const std::string path = run.path() + "/" + name;
    remove_all(path);
    put(path);
    const std::string message = thrown<InputError>([&] { RunFolder::open(run.path()); });
    remove_all(run.path());
    CHECK(read_file(folder / "other", "text") == "{}");
    CHECK(exists(folder / "elsewhere/step-5"));
    CHECK_CONTAINS(message, name + ": expected a ");
    return message;
  };
  const auto link = [&](const std::string& path) { point_link(path, folder / "other"); };
  const auto link_to_folder = [&](const std::string& path) {
    point_link(path, folder / "elsewhere");
  };
  for (const char* name :
       {".lock", "config.toml", "vocabulary.json", "metrics.jsonl", "train.log", "result.json",
        "run.json", "checkpoints/step-1/state.json", "checkpoints/step-1/model.safetensors",
        "snapshots/step-1.safetensors"}) {
    CHECK_CONTAINS(error_of(name, link), "expected a plain file, found a link; nothing outside");
    CHECK_CONTAINS(error_of(name, [](const std::string& path) { ::mkfifo(path.c_str(), 0600); }),
                   "expected a plain file, found a device or FIFO");
  }
  for (const char* name : {"checkpoints", "checkpoints/step-2", "snapshots"})
    CHECK_CONTAINS(error_of(name, link_to_folder),
                   "expected a folder, found a link; nothing outside");

  make_folders(folder / "r");
  link(folder / "r/.lock");
  CHECK_CONTAINS(thrown<InputError>([&] { const RunWriter lock(RunFolder::create(folder / "r")); }),
                 ".lock: expected a plain file, found a link");
}

TEST_CASE("run: a lock detects that its folder was moved or deleted") {
  const TemporaryFolder folder;
  const auto error_of = [](const RunWriter& lock) {
    return thrown<Error>([&] { lock.check_held(); });
  };
  const RunWriter lock(RunFolder::create(folder / "r"));
  CHECK(error_of(lock) == "");
  REQUIRE(::rename((folder / "r").c_str(), (folder / "moved").c_str()) == 0);
  CHECK_CONTAINS(error_of(lock), "r: no longer the folder that this process trains in");
  {
    const RunWriter next(RunFolder::create(folder / "r"));
    CHECK(error_of(next) == "");
    CHECK_CONTAINS(error_of(lock), "it was renamed, replaced or deleted; training stops");
    remove_all(folder / "r");
    CHECK_CONTAINS(error_of(next), "no longer the folder");
  }
  REQUIRE(::rename((folder / "moved").c_str(), (folder / "r").c_str()) == 0);
  CHECK(error_of(lock) == "");
}

TEST_CASE("run: metrics with a damaged row before valid rows are rejected") {
  const TemporaryFolder folder;
  const std::string path = folder / "metrics.jsonl";
  const auto line = [](int64_t step) { return row(step).text() + "\n"; };
  const std::string damaged = "{\"step\":2,\"lo\n";
  const auto rejects = [&](const std::string& rows, int64_t last_step, const std::string& part) {
    write_file(path, rows);
    CHECK_CONTAINS(thrown<InputError>([&] { const MetricsFile metrics(path, last_step); }), part);
    CHECK(read_file(path, "text") == rows);
  };
  rejects(line(1) + damaged + line(3), 3, "metrics.jsonl:2: expected a row of metrics");
  rejects(line(1) + "\n" + line(3), 3, "found a damaged one; repair or delete this line");
  rejects(std::string(50, '\0') + "\n" + line(3), 3, "metrics.jsonl:1: ");
  rejects(line(1) + damaged + damaged, 3, "metrics.jsonl:2: ");
  rejects(line(1) + line(9) + line(2), 3, "metrics.jsonl:3: ");
  const auto kept = [&](const std::string& rows, int64_t last_step) {
    write_file(path, rows);
    { const MetricsFile metrics(path, last_step); }
    return read_file(path, "text");
  };
  CHECK(kept(line(1) + line(2) + line(4) + damaged + line(5), 3) == line(1) + line(2));
  CHECK(kept(line(1) + row(2).text(), 3) == line(1) + line(2));  // only its newline is missing
  CHECK(kept(damaged + damaged, 0) == "");
}

TEST_CASE("run: only one process can train in a run") {
  const TemporaryFolder folder;
  const RunFolder run = RunFolder::create(folder / "a");
  {
    const RunWriter lock(run);
    CHECK_CONTAINS(thrown<InputError>([&] { const RunWriter second(run); }),
                   "process " + std::to_string(::getpid()) + " is training in it");
  }
  const pid_t child = ::fork();
  if (child == 0) {
    const RunWriter lock(run);
    ::_exit(0);  // like a killed process: no destructor runs
  }
  ::waitpid(child, nullptr, 0);
  CHECK(thrown<InputError>([&] { const RunWriter lock(run); }) == "");
}

TEST_CASE("run: metrics continue after the last step of a checkpoint") {
  const TemporaryFolder folder;
  const std::string path = folder / "metrics.jsonl";
  {
    MetricsFile metrics(path, 0);
    CHECK(!exists(path));  // a run that was killed while starting can be restarted
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
  for (const std::string& torn : {std::string("{\"step\":10"), std::string(100, '\0')}) {
    append(path, torn);
    { const MetricsFile metrics(path, 100); }
    CHECK(read_file(path, "text").ends_with("{\"step\":9,\"loss\":0.1}\n"));
  }
  { const MetricsFile metrics(path, 0); }
  CHECK(read_file(path, "text") == "");
}

TEST_CASE("run: write errors of metrics name the file and a remedy") {
  const TemporaryFolder folder;
  MetricsFile metrics(folder / "metrics.jsonl", 0);
  const FileSizeLimit limit(100);
  const std::string message = thrown<Error>([&] {
    for (int64_t step = 1; step < 100; ++step) metrics.write(row(step));
  });
  CHECK_CONTAINS(message, "metrics.jsonl: cannot write: ");
  CHECK_CONTAINS(message, "make room on the disk");
}
