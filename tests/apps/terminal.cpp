// Control characters are escaped on the terminal, in the log and in errors. Quotes in errors are
// short.
#include "apps/support/terminal.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fcntl.h>
#include <sstream>
#include <sys/ioctl.h>
#include <unistd.h>

#include "apps/support/files.h"
#include "apps/support/json.h"
#include "apps/support/table.h"
#include "core/text.h"
#include "program.h"

using namespace heed;

namespace {

// Clear screen, a C1 control, right-to-left override, carriage return, DEL.
const std::string hostile = "\x1b[2J\u009b1m\u202e\r\x7f";

// A run trained on text with control characters.
struct HostileTextRun : TemporaryFolder {
  ProgramOutput training;
  HostileTextRun() {
    std::string text;
    for (int i = 0; i < 40; ++i) text += hostile + "ab\n\t";
    write_file(path + "/text.txt", text);
    write_file(path + "/c.toml",
               "[train]\nsteps = 3\nsamples = 1\n[model]\nkind = 'language_model'\nlayers = 1\n"
               "dim = 16\nheads = 2\n[data]\nkind = 'text'\npath = 'text.txt'\ncontext = 8\n");
    training = succeeded(heed_in(path, {"train", "c.toml", "--run", "run"}));
  }
};

const HostileTextRun& hostile_run() {
  static const HostileTextRun run;
  return run;
}

// Returns what heed writes to a stream that is a terminal of so many columns.
std::string shown_on_terminal(const std::string& where, const std::string& arguments,
                              unsigned short columns = 80, int stream = STDOUT_FILENO) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  REQUIRE(terminal >= 0);
  REQUIRE((::grantpt(terminal) == 0 && ::unlockpt(terminal) == 0));
  const std::string name = ::ptsname(terminal);
  const int kept_open = ::open(name.c_str(), O_RDWR | O_NOCTTY);
  const winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
  REQUIRE(::ioctl(kept_open, TIOCSWINSZ, &size) == 0);
  const std::string output = " " + std::to_string(stream) + ">" + name;
  REQUIRE(std::system(("cd " + where + " && " HEED_PROGRAM " " + arguments + output).c_str()) == 0);
  ::close(kept_open);  // after what was printed, read() fails then
  std::string shown;
  char some[4096];
  for (ssize_t length; (length = ::read(terminal, some, sizeof some)) > 0;)
    shown.append(some, static_cast<size_t>(length));
  REQUIRE_FALSE(shown.empty());
  ::close(terminal);
  std::erase(shown, '\r');  // the terminal adds one to each newline
  return shown;
}

}  // namespace

TEST_CASE("captured output: what the thread prints, unescaped") {
  std::string outer, inner;
  const CapturedOutput captured(outer);
  {
    const CapturedOutput nested(inner);
    print(hostile);
  }
  print_wrapped("two\n");
  CHECK(inner == hostile);
  CHECK(outer == "two\n");
  CHECK_FALSE(is_terminal(STDOUT_FILENO));
}

TEST_CASE("samples are escaped in the log and on the terminal") {
  const ProgramOutput& output = hostile_run().training;
  CHECK_CONTAINS(output.err, "\\x1b");
  CHECK(output.err.find("the log of the run was deleted") == output.err.npos);
  CHECK(escaped(output.err) == output.err);
  CHECK(escaped(output.out) == output.out);
  const std::string log = read_file(hostile_run() / "run/train.log", "log");
  CHECK_CONTAINS(log, "\\u202e");
  CHECK(escaped(log) == log);
}

TEST_CASE("generated text is unchanged in a pipe and escaped on a terminal") {
  const std::vector<std::string> arguments = {"generate", "run", "--length", "60"};
  const std::string exact = heed_in(hostile_run().path, arguments).out;
  CHECK(escaped(exact) != exact);
  CHECK(exact.find('\\') == exact.npos);
  const std::string shown = shown_on_terminal(hostile_run().path, "generate run --length 60");
  CHECK(shown == escaped(exact));
}

TEST_CASE("help and tables fit the width of a terminal") {
  const TemporaryFolder folder;
  const auto widest = [](const std::string& text) {
    size_t most = 0;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) most = std::max(most, character_count(line));
    return most;
  };
  const std::string help = heed_ok(folder.path, {"evaluate", "--help"});
  CHECK(widest(help) > 80);
  CHECK_CONTAINS(help, "--color");
  for (const unsigned short columns : {60, 80}) {
    const std::string shown = shown_on_terminal(folder.path, "evaluate --help", columns);
    CHECK(widest(shown) <= columns);
    std::string words = shown;
    for (size_t at = 0; (at = words.find("\\\n", at)) != words.npos;) words.erase(at, 1);
    std::string expected = help;
    for (std::string* text : {&words, &expected})  // the same words
      std::erase_if(*text, [](unsigned char c) { return std::isspace(c); });
    CHECK(words == expected);
  }
  write_file(folder / "c.toml", tiny_config());
  heed_ok(folder.path, {"train", "c.toml", "--run", "r"});
  CHECK(widest(heed_ok(folder.path, {"evaluate", "r"})) > 60);
  CHECK(widest(shown_on_terminal(folder.path, "evaluate r --color never", 60)) <= 60);
  if (has_command("compare")) CHECK(widest(shown_on_terminal(folder.path, "compare r", 60)) <= 60);
}

TEST_CASE("lines of progress leave the last column of a terminal free") {
  const TemporaryFolder folder;
  write_file(folder / "c.toml", tiny_config());
  const std::string shown =
      shown_on_terminal(folder.path, "train c.toml --run r", 30, STDERR_FILENO);
  const size_t end = shown.find("\033[K");  // erases the line
  REQUIRE(end != shown.npos);
  const size_t begin = shown.rfind('\n', end) + 1;
  const std::string line = shown.substr(begin, end - begin);
  CHECK(line.starts_with("step "));
  CHECK(line.size() == 29);
  if (!has_command("sweep")) return;
  const std::string lines = shown_on_terminal(
      folder.path, "sweep --config c.toml --axis optim.lr=0.0001234,0.0002345 --run s", 30,
      STDERR_FILENO);
  const size_t cut = lines.find("…"), before = lines.rfind('\n', cut) + 1;
  REQUIRE(cut != lines.npos);
  CHECK(lines.substr(before, cut - before).starts_with("  lr="));
  CHECK(cut - before == 28);
}

TEST_CASE("tables: blocks of columns, and cells on several lines") {
  const Table table{{{"name", "first", "second"}, {"a long name of a run", "1", "2.25"}},
                    {"a note"}};
  CHECK(table.text(1, 0) ==
        "name                  first  second\na long name of a run      1    2.25\na note\n");
  CHECK(table.text(1, 24) ==
        "name          first\n"
        "a long name       1\n"
        "  of a run\n\n"
        "name          second\n"
        "a long name     2.25\n"
        "  of a run\na note\n");
  const Table part{{{"name", "n", "p"}, {"one", "2", "3"}, {"two", "1"}}, {}};
  CHECK(part.text(1, 0) == "name  n  p\none   2  3\ntwo   1\n");
  const Table word{{{"", "n"}, {"abcdefghijklmnopqrst", "1"}}, {}};
  CHECK(word.text(1, 16) == "              n\nabcdefghijkl  1\nmnopqrst\n");
  CHECK(wrapped("  heed train 'a b' --run r\nplain text that is long\n", 17) ==
        "  heed train \\\n      'a b' \\\n      --run r\nplain text that\n  is long\n");
}

TEST_CASE("compare: names, values and scores are escaped") {
  if (!has_command("compare")) return;
  const TemporaryFolder folder;
  REQUIRE(std::system(("cp -a " + (hostile_run() / "run") + " " + folder.path).c_str()) == 0);
  const Json result =
      Json::object().set("x", hostile).set(hostile + "\nname", Json::object().set("loss", 0.5));
  write_file(folder / "run/result.json", result.text());
  const std::string output = heed_ok(folder.path, {"compare", "run"});
  CHECK(escaped(output) == output);
  CHECK(std::count(output.begin(), output.end(), '\n') == 2);
}

TEST_CASE("error messages are escaped and short") {
  const TemporaryFolder folder;
  const std::string ones = [] {
    std::string list = "1";
    for (int i = 1; i < 400'000; ++i) list += ",1";
    return list;
  }();
  const auto rejects = [&](const std::vector<std::string>& arguments) {
    const ProgramOutput output = heed_in(folder.path, arguments);
    check_rejected(output, 2, {});
    CHECK_MESSAGE(escaped(output.err) == output.err, output.err);
    CHECK_MESSAGE(output.err.size() < 1000, output.err.substr(0, 300));
  };
  const auto rejects_config = [&](const std::string& text) {
    write_file(folder / "c.toml", text);
    rejects({"train", "c.toml", "--run", "r"});
  };
  const std::string copy = "[model]\nkind = 'seq2seq'\n[data]\nkind = 'copy'\n";
  rejects_config(copy + "lengths = [" + ones + "]\n");
  rejects_config(copy + "lengths = [1, 2]\nlonger_lengths = [" + ones + "]\n");
  rejects_config("[model]\nkind = 'seq2seq'\nheads = 2\n[model.attention]\nkey_dims = [" + ones +
                 "]\n[data]\nkind = 'copy'\n");
  rejects_config("[model]\nkind = 'seq2seq'\n[model.attention]\naxes = [" + ones +
                 "]\n[data]\nkind = 'copy'\n");
  const std::string hostile_toml = "\\u001b[2J\\u009b1m\\u202e\\u007f";
  for (const std::string& text :
       {std::string(500'000, 'k'), std::string(10'000, '\x01'), hostile, hostile_toml}) {
    const std::string quoted = text == hostile_toml ? "\"" + text + "\"" : string_literal(text);
    rejects_config(quoted + " = 1\n");
    rejects_config(quoted + ".x = 1\n");
    rejects_config("seed = " + quoted + "\n");
    rejects_config("base = " + quoted + "\n");
    rejects_config("precision = " + quoted + "\n");
    rejects_config(text + " = \n");
    rejects_config("[data]\nkind = 'text'\npath = " + quoted +
                   "\n[model]\nkind = 'language_model'");
    rejects_config("[data]\nkind = 'text'\npaths = [" + quoted + "]\n");
  }
  rejects({"train", hostile});
  rejects({hostile});
  rejects({"train", "--" + hostile});
  rejects({"generate", hostile});
  rejects({"train", "c.toml", "--set", hostile + "=1"});
  rejects({"train", "c.toml", "--set", "seed=" + std::string(100'000, 'x')});
  rejects({std::string(100'000, 'x')});
  rejects({"train", "--" + std::string(100'000, 'x')});
  rejects({"generate", "run", "--count", std::string(100'000, 'x')});
}

TEST_CASE("errors in vocabulary.json and result.json are escaped and short") {
  const TemporaryFolder folder;
  REQUIRE(std::system(("cp -a " + (hostile_run() / "run") + " " + folder.path).c_str()) == 0);
  const auto rejects = [&](const std::string& file, const std::string& text,
                           const std::string& command) {
    if (!has_command(command)) return;
    const std::string before = read_file(folder / file, "file");
    write_file(folder / file, text);
    const ProgramOutput output = heed_in(folder.path, {command, "run"});
    check_rejected(output, 2, {name_of(file)});
    CHECK_MESSAGE(escaped(output.err) == output.err, output.err);
    CHECK_MESSAGE(output.err.size() < 1000, output.err.substr(0, 300));
    write_file(folder / file, before);
  };
  for (const std::string& text : {hostile, std::string(1'000'000, 'v')}) {
    const std::string literal = Json(text).text();
    rejects("run/vocabulary.json", "{\"level\": " + literal + ", \"symbols\": []}", "generate");
    rejects("run/vocabulary.json",
            "{\"level\": \"character\", \"symbols\": [" + literal + "," + literal + "]}",
            "generate");
    rejects("run/vocabulary.json", "{\"level\": [" + literal + "]}", "generate");
    rejects("run/vocabulary.json", "{" + literal + ": 1, " + literal + ": 2}", "generate");
    rejects("run/vocabulary.json", literal + literal, "generate");
    rejects("run/result.json", "[" + literal + "]", "compare");
  }
}
