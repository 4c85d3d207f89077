// heed train: the last line of its output is a command that works, ready to paste.
#include <doctest/doctest.h>

#include "program.h"

using namespace heed;

namespace {

constexpr const char* tiny_head =
    "[train]\nsteps = 2\nbatch_size = 4\nevaluate_every = 2\n[model]\nlayers = 1\ndim = 16\n"
    "heads = 2\n";

std::string last_line_of(std::string text) {
  REQUIRE(text.ends_with('\n'));
  text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

struct PastedCommands : TemporaryFolder {
  // Trains this config, checks that the command it prints works when it is pasted, and returns it.
  std::string next(const std::string& config, const std::string& run = "r") const {
    write_file(path + "/c.toml", config);
    remove_all(path + "/" + run);
    const std::string trained = heed_ok(path, {"train", "c.toml", "--run", run});
    const std::string command = last_line_of(trained);
    const ProgramOutput pasted = shell_in(path, "heed() { $HEED \"$@\"; }\n" + command);
    CHECK_MESSAGE(pasted.code == 0, command, "\n", pasted.err);
    CHECK(pasted.err == "");
    CHECK(!pasted.out.empty());
    return command;
  }
};

// Returns 60 texts that begin with `start`, one a line, each followed by `end`.
std::string texts(const std::string& start, const std::string& end = "") {
  std::string lines;
  for (int i = 0; i < 60; ++i) {
    const char a = static_cast<char>('a' + i % 8), b = static_cast<char>('a' + i / 8);
    lines += start + a + b + end + "\n";
  }
  return lines;
}

}  // namespace

TEST_CASE("train: the last line generates with an input of the test split") {
  const PastedCommands workspace;
  const std::string copied = workspace.next(tiny_config(), "it's a run");
  CHECK_MESSAGE(copied.starts_with("echo "), copied);
  CHECK_CONTAINS(copied, " | heed generate 'it'\\''s a run'");

  const std::string pairs = std::string(tiny_head) + "[data]\nkind = 'pairs'\npath = 'pairs.tsv'\n";
  for (const char* hostile : {"it's \"$HOME\" `id` $(id) ; rm -rf / & ", "-n ", "-e a\\nb\\c ",
                              "\\", "  two spaces ", "é → ü ", "!! * ~ # % {a,b} "}) {
    write_file(workspace / "pairs.tsv", texts(hostile, "\tx"));
    const std::string command = workspace.next(pairs);
    CAPTURE(hostile);
    const size_t pipe = command.rfind(" | heed generate r");
    REQUIRE_MESSAGE(pipe != command.npos, command);
    const std::string typed = shell_in(workspace.path, command.substr(0, pipe)).out;
    REQUIRE(typed.ends_with('\n'));
    CHECK_CONTAINS("\n" + read_file(workspace / "pairs.tsv", "pairs"),
                   "\n" + typed.substr(0, typed.size() - 1) + "\t");
  }
}

TEST_CASE("train: the last line continues a prompt of the test split") {
  const PastedCommands workspace;
  const auto language_model = [](const std::string& data) {
    return std::string(tiny_head) + "kind = 'language_model'\n[data]\n" + data;
  };
  for (const char* task : {"kind = 'sort'\nlengths = [3, 3]\n", "kind = 'addition'\ndigits = 1\n"})
    CHECK_CONTAINS(workspace.next(language_model(task)), "heed generate r --prompt ");
  for (const char* hostile : {"it's $HOME `id` ", "-n x", "\\"}) {
    write_file(workspace / "lines.txt", texts(hostile));
    const std::string command =
        workspace.next(language_model("kind = 'lines'\npath = 'lines.txt'\ntest_fraction = 0.2\n"));
    CHECK_CONTAINS(command, *hostile == '-' ? "'--prompt=-n" : "heed generate r --prompt '");
  }
  for (const std::string level : {"byte", "character", "word", "subword"}) {
    std::string text;
    for (int i = 0; i < 400; ++i) text += i % 9 ? "schön gesagt, " : "\n\nétait là\t";
    write_file(workspace / "text.txt", text);
    const std::string command =
        workspace.next(language_model("kind = 'text'\npath = 'text.txt'\ncontext = 8\nlevel = '") +
                       level + "'\n" + (level == "subword" ? "max_vocabulary = 300\n" : ""));
    CHECK_CONTAINS(command, "heed generate r --prompt ");
  }
}

TEST_CASE("train: the last line of other models draws attention, if there is any") {
  const PastedCommands workspace;
  const std::string labelled = "[data]\nkind = 'labelled'\npath = 'pairs.tsv'\n";
  write_file(workspace / "pairs.tsv", texts("", "\teven") + texts("", "\todd"));
  const std::string classifier = std::string(tiny_head) + "kind = 'classifier'\n";
  const std::string recurrent = classifier + "[model.block]\nmixing = 'gru'\n";
  CHECK(workspace.next(classifier + labelled) == "heed attend r --example 0");
  CHECK(workspace.next(classifier + labelled + "val_fraction = 0\ntest_fraction = 0\n") ==
        "heed attend r --example 0 --split train");
  CHECK(workspace.next(recurrent + labelled) == "heed evaluate r");
  CHECK(workspace.next(classifier + "pool = 'learned'\n[model.block]\nmixing = 'gru'\n" +
                       labelled) == "heed attend r --example 0");
  CHECK(workspace.next(classifier + "[model.block]\nmixing = 'graph_attention'\n"
                                    "[model.positional]\nkind = 'none'\n"
                                    "[data]\nkind = 'graph'\nsymbols = 4\nlengths = [4, 6]\n"
                                    "val_size = 8\ntest_size = 8\n") ==
        "heed attend r --example 0");
  CHECK(workspace.next(std::string(tiny_head) +
                       "[data]\nkind = 'streams'\nsymbols = 4\n"
                       "lengths = [2, 3]\nval_size = 8\ntest_size = 8\n") ==
        "heed attend r --example 0");
}
