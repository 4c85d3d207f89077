#include "checks.h"

#include <doctest/doctest.h>

#include <string>

void check_contains(std::string_view text, std::string_view part, const char* file, int line) {
  if (text.find(part) == text.npos)
    ADD_FAIL_CHECK_AT(file, line, ("'" + std::string(part) + "' is not in: " + std::string(text)));
}

std::string one_line(std::string message) {
  CHECK_MESSAGE(message.find('\n') == message.npos, message);
  return message;
}
