// Checks of texts that are functions: they compile in a fraction of the time of doctest's macros.
#pragma once

#include <string>
#include <string_view>

// Checks that a text contains a part. A failure shows both.
void check_contains(std::string_view text, std::string_view part, const char* file, int line);
#define CHECK_CONTAINS(text, part) check_contains(text, part, __FILE__, __LINE__)

// Returns a message. Checks that it is one line.
std::string one_line(std::string message);

// Returns the message of the E that f throws, or "". Checks that the message is one line.
template <class E, class F>
std::string thrown(F&& f) {
  try {
    f();
    return "";
  } catch (const E& error) {
    return one_line(error.what());
  }
}
