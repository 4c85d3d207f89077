// The commands of lab in the program: manual page, completion, colours.
#include <doctest/doctest.h>

#include "apps/support/files.h"
#include "checks.h"
#include "lab/commands/room.h"
#include "manual_check.h"
#include "program.h"

using namespace heed;

TEST_CASE("lab: manual page and completion name every command and every option") {
  check_manual(lab_commands::all);
}

TEST_CASE("colours: always, never, and only on a terminal otherwise") {
  const TemporaryFolder folder;
  const auto claims = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"claims", "--only", "A16"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return heed_ok(folder.path, arguments);
  };
  CHECK_CONTAINS(claims({"--color", "always"}), "\033[32mPASS\033[m\n");
  const std::string plain = claims({});
  CHECK(plain == claims({"--color", "never"}));
  CHECK(plain.find('\033') == plain.npos);
  check_rejected(heed_in(folder.path, {"claims", "--color", "red"}), 2,
                 {"--color: expected auto or always or never, found 'red'"});
}

TEST_CASE("commands: a file whose name has the extension of another format is not written") {
  const TemporaryFolder folder;
  succeeded(shell_in(folder.path, "cp -a " HEED_FIXTURES "/run r"));
  const struct {
    std::vector<std::string> arguments;  // the last is the name of the file
    const char* extensions;
  } cases[] = {{{"inspect", "r", "heads", "-o", "x.txt"}, ".html or .htm"},
               {{"inspect", "r", "-o", "x.json"}, ".html or .htm"},
               {{"report", "r", "-o", "x.pdf"}, ".html or .htm"},
               {{"attend", "r", "-o", "x.png"}, ".svg"},
               {{"attend", "r", "--csv", "x.tsv"}, ".csv"},
               {{"attend", "r", "--safetensors", "x.npz"}, ".safetensors"},
               {{"evaluate", "r", "--predictions", "x.csv"}, ".jsonl or .ndjson"},
               {{"export", "r", "--output", "x.pt"}, ".onnx"},
               {{"compare", "r", "--curves", "x.svg"}, ".csv"},
               {{"profile", "r", "--trace", "x.txt"}, ".json"},
               {{"pack", "r", "--output", "x.zip"}, ".tgz or .tar.gz"}};
  for (const auto& [arguments, extensions] : cases) {
    check_rejected(heed_in(folder.path, arguments), 2,
                   {arguments.back() + ": expected a name that ends in " + extensions});
    CHECK(!exists(folder / arguments.back()));
  }
  heed_ok(folder.path, {"inspect", "r", "heads", "-o", "page"});
  CHECK_CONTAINS(read_file(folder / "page", "page"), "<title>r: heads</title>");
}
