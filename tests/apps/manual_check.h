// Checks the manual page and the completion script of some commands.
#pragma once

#include <doctest/doctest.h>

#include <string>

#include "apps/commands/command_line.h"
#include "checks.h"
#include "core/text.h"

namespace heed {

// Both name every command and every option.
inline void check_manual(Commands commands) {
  const std::string page = manual_page(commands), completion = bash_completion(commands);
  CHECK(page.starts_with(".TH HEED 1 "));
  for (const char* name : {"version", "completion", "man"})
    CHECK_CONTAINS(page, std::string("\\fB\\-\\-") + name + "\\fR");
  CHECK(escaped(completion) == completion);
  for (const Command* command : commands) {
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

}  // namespace heed
