// apps/support/shell: a shell reads a quoted word as the text.
#include "apps/support/shell.h"

#include <doctest/doctest.h>

#include "apps/support/terminal.h"
#include "program.h"

using namespace heed;

TEST_CASE("shell: a word is read back as the text") {
  CHECK(shell_word("runs/reverse-2") == "runs/reverse-2");
  CHECK(shell_word("optim.lr=1e-3") == "optim.lr=1e-3");
  CHECK(shell_word("it's") == "'it'\\''s'");
  const TemporaryFolder folder;
  for (const std::string text : {"",        "a",          "a b",       "  ",    "it's",
                                 "''",      "\"$HOME\"",  "`id`",      "$(id)", "a\\nb",
                                 "\\",      "!!",         "~",         "*",     "{a,b}",
                                 "#",       "a;b",        "a&b|c<d>e", "x=1",   "é",
                                 "-n",      "line\nfeed", "\t",        "%s",    "-\x1b[2J %s\\'",
                                 "end\n\n", "\xff",       "\u202e"}) {
    for (const char* shell : {"/bin/sh", "/bin/bash"})
      CHECK(
          Subprocess({"-c", "printf %s " + shell_word(text)}, folder.path, "", shell).wait().out ==
          text);
    if (!text.ends_with('\n')) CHECK(one_line(shell_word(text)) == shell_word(text));
  }
}
