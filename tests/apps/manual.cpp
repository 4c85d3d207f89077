// The manual page, the completion for bash, and colours.
#include "apps/commands/manual.h"

#include <doctest/doctest.h>

#include <unistd.h>

#include "apps/commands/command.h"
#include "apps/support/colour.h"
#include "core/text.h"
#include "program.h"

using namespace heed;

TEST_CASE("manual page and completion name every command and every option") {
  const std::string page = manual_page(commands::all), completion = bash_completion(commands::all);
  CHECK(page.starts_with(".TH HEED 1 "));
  CHECK(escaped(completion) == completion);
  for (const Command* command : commands::all) {
    CHECK_CONTAINS(page, std::string(".SS heed ") + command->name);
    const size_t section = page.find(std::string(".SS heed ") + command->name);
    const std::string own = page.substr(section, page.find("\n.SS ", section + 1) - section);
    const std::string start = std::string("    ") + command->name + ") options=";
    const size_t line = completion.find(start);
    REQUIRE(line != completion.npos);
    const std::string words = completion.substr(line, completion.find('\n', line) - line);
    const auto arguments = command->arguments();
    for (const Option& option : arguments->options()) {
      std::string name = option.name;
      if (name[0] != '-') {
        CHECK_CONTAINS(own, " " + name);
        continue;
      }
      CHECK_CONTAINS(words, " " + name);
      for (size_t at = 0; (at = name.find('-', at)) != name.npos; at += 2) name.insert(at, "\\");
      CHECK_CONTAINS(own, "\\fB" + name + "\\fR");
    }
  }
}

TEST_CASE("completion for bash completes commands, options, their words, keys and files") {
  const TemporaryFolder folder;
  write_file(folder / "a file.toml", "");
  const auto completed = [&](const std::string& words) {
    const ProgramOutput output =
        shell_in(folder.path,
                 ". <($HEED --completion); COMP_WORDS=(" + words +
                     "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _heed; echo \"${COMPREPLY[*]}\"");
    CHECK_MESSAGE(output.code == 0, output.err);
    return output.out;
  };
  CHECK(completed("heed gen") == "generate\n");
  CHECK(completed("heed --ma") == "--man\n");
  CHECK(completed("heed generate --no-rep") == "--no-repeat-ngram\n");
  CHECK(completed("heed generate --unknown ''") == "error skip\n");
  CHECK(completed("heed train --color n") == "never\n");
  CHECK(completed("heed train --set model.lay") == "model.layers=\n");
  CHECK(completed("heed train a") == "a file.toml\n");
  CHECK(completed("heed generate --beam ''") == "\n");
}

TEST_CASE("colours: always, never, and only on a terminal otherwise") {
  const TemporaryFolder folder;
  const auto theorems = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"theorems", "--only", "A16"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProgramOutput output = heed_in(folder.path, arguments);
    CHECK_MESSAGE(output.code == 0, output.err);
    return output.out;
  };
  CHECK_CONTAINS(theorems({"--color", "always"}), "\033[32mPASS\033[m\n");
  const std::string plain = theorems({});
  CHECK(plain == theorems({"--color", "never"}));
  CHECK(plain.find('\033') == plain.npos);
  check_rejected(heed_in(folder.path, {"theorems", "--color", "red"}), 2,
                 {"--color: expected auto or always or never, found 'red'"});
  use_colours(Colours::always);
  CHECK(styled(Style::bad, "a\033b", STDOUT_FILENO) == "\033[31ma\\x1bb\033[m");
  use_colours(Colours::automatic);
  CHECK(cut_lines("abcde\nfgh\n\näöüß¿", 4) == "abc…\nfgh\n\näöü…");
  CHECK(cut_lines("abcd\xff\xff", 5) == "abcd…");
  CHECK(cut_lines("abcde", 0) == "abcde");
}
