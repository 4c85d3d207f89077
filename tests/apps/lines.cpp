#include <doctest/doctest.h>

#include <unistd.h>
#include <vector>

#include "apps/inference/line_reader.h"
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

TEST_CASE("lines: no byte order mark, and no file that is not UTF-8 by its first bytes") {
  using namespace std::string_view_literals;
  const TemporaryFolder folder;
  const std::string mark = "\xEF\xBB\xBF", longest(LineReader::max_line, 'x');
  const auto lines_of = [&](std::string_view text, Level level = Level::character) {
    write_file(folder / "f", text);
    LineReader reader(folder / "f", level);
    std::vector<std::string> lines;
    for (std::string line; reader.next(line);) lines.push_back(line);
    return lines;
  };
  using Lines = std::vector<std::string>;
  for (const Level level : {Level::character, Level::byte}) {
    CHECK(lines_of(mark + "ab\r\nc\n", level) == Lines{"ab", "c"});
    CHECK(lines_of(mark, level).empty());
    CHECK(lines_of(mark + "\n", level) == Lines{""});
    CHECK(lines_of(mark + longest, level) == Lines{longest});
    CHECK(lines_of("a\n" + mark + "b", level) == Lines{"a", mark + "b"});
  }
  CHECK(lines_of("").empty());
  CHECK(lines_of("\xEF\n") == Lines{"\xEF"});
  const std::string_view utf16 =
      "\xFF\xFE"
      "a\0\n\0"sv;
  CHECK_CONTAINS(thrown<InputError>([&] { lines_of(utf16); }),
                 "/f: UTF-16, not UTF-8: convert it with iconv -f UTF-16 -t UTF-8");
  CHECK(lines_of(utf16, Level::byte).size() == 2);
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
