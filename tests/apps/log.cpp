// apps/support/log: the log file and the progress line.
#include "apps/support/log.h"

#include <doctest/doctest.h>

#include <cmath>
#include <thread>

#include "apps/support/files.h"
#include "core/check.h"
#include "disk_limits.h"
#include "temporary.h"

using namespace heed;

TEST_CASE("log: lines are written to the open file with a time and without colours") {
  const TemporaryFolder folder;
  logging::open_file(folder / "train.log");
  logging::info("step {}", 1);
  logging::warning("{}", "careful");
  logging::close_file();
  logging::info("not in the file");
  logging::open_file(folder / "train.log");
  logging::error("again");
  logging::close_file();
  const std::string text = read_file(folder / "train.log", "log");
  CHECK_CONTAINS(text, " step 1\n");
  CHECK_CONTAINS(text, " warning: careful\n");
  CHECK_CONTAINS(text, " error: again\n");
  CHECK(text.find("not in the file") == text.npos);
  CHECK(text.find('\033') == text.npos);
  CHECK(text[4] == '-');
  CHECK_CONTAINS(thrown<Error>([&] { logging::open_file(folder.path); }), "expected a plain file");
}

TEST_CASE("log: each thread has a file, which gets all lines of a quiet one") {
  const TemporaryFolder folder;
  logging::open_file(folder / "one.log");
  std::thread([&] {
    const logging::Quiet quiet;
    logging::open_file(folder / "two.log");
    logging::info("two");
    logging::close_file();
  }).join();
  logging::info("one");
  logging::close_file();
  const std::string one = read_file(folder / "one.log", "log");
  CHECK_CONTAINS(one, " one\n");
  CHECK(one.find("two") == one.npos);
  CHECK_CONTAINS(read_file(folder / "two.log", "log"), " two\n");
}

TEST_CASE("log: check_file reports lines that could not be written") {
  const TemporaryFolder folder;
  logging::open_file(folder / "train.log");
  logging::info("short");
  logging::check_file();
  {
    const FileSizeLimit limit(60);
    logging::info("{}", std::string(100, 'x'));
    logging::info("{}", std::string(100, 'y'));
  }
  logging::info("more");
  const auto error_of = [] { return thrown<Error>([] { logging::check_file(); }); };
  CHECK_CONTAINS(error_of(), "train.log: cannot write: File too large; make room on the disk");
  CHECK(error_of() == "");
  logging::close_file();
}

TEST_CASE("log: progress line and times") {
  const logging::Progress progress{120, 2000, 1.23456, 52310.4, 65};
  const std::string text = "step 120/2000  loss 1.235  52,310 tokens/s  1:05 left";
  CHECK(logging::progress_line(progress, 79) == "██░░░░░░░░░░░░░░░░░░░░░░  " + text);
  CHECK(logging::progress_line(progress, 200) == "██░░░░░░░░░░░░░░░░░░░░░░  " + text);
  CHECK(logging::progress_line(progress, 65) == "█░░░░░░░░░  " + text);
  CHECK(logging::progress_line(progress, 60) == text);
  CHECK(logging::progress_line(progress, 13) == "step 120/2000");
  CHECK(logging::progress_line({1, 2, 0.5, 7, INFINITY}, 40) ==
        "step 1/2  loss 0.5000  7 tokens/s");
  CHECK(logging::progress_line({2, 2, 3e-6, 7, INFINITY}, 50) ==
        "████████████  step 2/2  loss 3.000e-06  7 tokens/s");
  CHECK(logging::clock_text(3700) == "1:01:40");
  CHECK(logging::clock_text(0.4) == "0:00");
  CHECK(logging::clock_text(1e300).size() > 4);
}
