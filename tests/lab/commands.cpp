// The commands of lab in the program: manual page, completion, colours.
#include <doctest/doctest.h>

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
