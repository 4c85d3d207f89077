#include "apps/support/lines.h"

#include <doctest/doctest.h>

#include <unistd.h>
#include <vector>

#include "apps/support/files.h"
#include "core/check.h"
#include "temporary.h"

using namespace heed;

TEST_CASE("lines: any line break, a last line without one, and long lines cut") {
  const TemporaryFolder folder;
  const std::string longest(LineReader::max_line, 'x');
  write_file(folder / "f", "a\n\nb\r\n" + longest + "\n" + longest + "yz\nc\r\n\r\nlast");
  LineReader reader(folder / "f");
  std::vector<std::string> lines;
  for (std::string line; reader.next(line);) {
    CHECK(reader.is_ready());
    lines.push_back(line);
  }
  CHECK(lines == std::vector<std::string>{"a", "", "b", longest, longest + "y", "c", "", "last"});
  CHECK_CONTAINS(thrown<InputError>([&] { LineReader(folder / "none"); }), "cannot read");
  CHECK_CONTAINS(thrown<InputError>([&] {
                   std::string line;
                   LineReader(folder.path).next(line);
                 }),
                 "Is a directory");
}

TEST_CASE("lines: a reader is ready when a whole line has arrived, or the end") {
  const TemporaryFolder folder;
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const auto send = [&](std::string_view text) {
    REQUIRE(::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  };
  LineReader reader("/dev/fd/" + std::to_string(ends[0]));
  std::string line;
  CHECK(!reader.is_ready());
  send("ab");
  CHECK(!reader.is_ready());
  send("c\nd");
  CHECK(reader.is_ready());
  CHECK(reader.next(line));
  CHECK(line == "abc");
  CHECK(!reader.is_ready());
  ::close(ends[1]);
  CHECK(reader.is_ready());
  CHECK(reader.next(line));
  CHECK(line == "d");
  CHECK(!reader.next(line));
  ::close(ends[0]);
}
