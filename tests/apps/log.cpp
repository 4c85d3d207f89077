// apps/log: the file of a run, and the progress line.
#include "apps/log.h"

#include <doctest/doctest.h>

#include <cmath>

#include "apps/files.h"
#include "core/check.h"
#include "temporary.h"

using namespace heed;

TEST_CASE("log: lines go to the open file, with a time and without colours") {
  const TemporaryFolder folder;
  log::open_file(folder / "train.log");
  log::info("step {}", 1);
  log::warning("{}", "careful");
  log::close_file();
  log::info("not in the file");
  log::open_file(folder / "train.log");
  log::error("again");
  log::close_file();
  const std::string text = read_file(folder / "train.log", "log");
  CHECK_SAYS(text, " step 1\n");
  CHECK_SAYS(text, " warning: careful\n");
  CHECK_SAYS(text, " error: again\n");
  CHECK(text.find("not in the file") == text.npos);
  CHECK(text.find('\033') == text.npos);
  CHECK(text[4] == '-');
  CHECK_SAYS(thrown<Error>([&] { log::open_file(folder.path); }), "cannot write the log");
}

TEST_CASE("log: the progress line") {
  const log::Progress progress{120, 2000, 1.23456, 52310.4, 65};
  CHECK(log::progress_line(progress, 79) ==
        "step 120/2000  loss 1.235  52,310 tokens/s  1:05 left");
  CHECK(log::progress_line(progress, 13) == "step 120/2000");
  CHECK(log::progress_line({1, 2, 0.5, 7, INFINITY}, 79) == "step 1/2  loss 0.5  7 tokens/s");
  CHECK(log::clock_text(3700) == "1:01:40");
  CHECK(log::clock_text(0.4) == "0:00");
  CHECK(log::clock_text(1e300).size() > 4);
}
