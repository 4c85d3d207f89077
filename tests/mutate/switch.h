// Selects the active mutant of a mutated program, from the environment.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace heed_mutation {

inline const int chosen = std::getenv("HEED_MUTANT") ? std::atoi(std::getenv("HEED_MUTANT")) : 0;
inline const char* const reached = std::getenv("HEED_REACHED");

// Adds the number of a mutant to the file HEED_REACHED, once in each process. Returns false.
template <int number>
bool note() {
  static const bool noted = [] {
    if (std::FILE* const file = std::fopen(reached, "a")) {
      std::fprintf(file, "%d\n", number);
      std::fclose(file);
    }
    return true;
  }();
  return !noted;
}

}  // namespace heed_mutation

#define HEED_MUTANT(number) \
  (heed_mutation::chosen == (number) || (heed_mutation::reached && heed_mutation::note<number>()))
