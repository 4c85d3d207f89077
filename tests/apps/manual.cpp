// The manual page, the completion for bash, and colours.
#include <doctest/doctest.h>

#include <unistd.h>

#include "apps/commands/command.h"
#include "apps/commands/command_line.h"
#include "apps/support/terminal.h"
#include "core/text.h"
#include "manual_check.h"
#include "program.h"

using namespace heed;

TEST_CASE("manual page and completion name every command and every option") {
  check_manual(commands::all);
}

TEST_CASE("completion for bash completes commands, options, their words, keys and files") {
  const TemporaryFolder folder;
  write_file(folder / "a file.toml", "");
  const auto completed = [&](const std::string& words) {
    const std::string script =
        ". <($HEED --completion); COMP_WORDS=(" + words +
        "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _heed; echo \"${COMPREPLY[*]}\"";
    return succeeded(shell_in(folder.path, script)).out;
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

TEST_CASE("colours: styles, and text that is cut") {
  use_colours(Colours::always);
  CHECK(styled(Style::bad, "a\033b", STDOUT_FILENO) == "\033[31ma\\x1bb\033[m");
  use_colours(Colours::automatic);
  CHECK(cut_lines("abcde\nfgh\n\näöüß¿", 4) == "abc…\nfgh\n\näöü…");
  CHECK(cut_lines("abcd\xff\xff", 5) == "abcd…");
  CHECK(cut_lines("abcde", 0) == "abcde");
}
