// session_losses CONFIG STEPS: prints the loss of each step of a session, one a line, with all
// digits.
#include <fmt/core.h>

#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>

#include "apps/playground/session.h"

int main(int count, char** arguments) {
  if (count != 3) return 2;
  std::ifstream file(arguments[1]);
  const std::string config{std::istreambuf_iterator<char>(file), {}};
  try {
    heed::PlaygroundSession session(config);
    for (int step = std::atoi(arguments[2]); step > 0; --step)
      fmt::print("{:.17g}\n", session.step());
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
