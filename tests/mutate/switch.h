// Selects the active mutant of a mutated program, from the environment.
#pragma once

#include <cstdlib>

namespace heed_mutation {

inline const int chosen = std::getenv("HEED_MUTANT") ? std::atoi(std::getenv("HEED_MUTANT")) : 0;

}  // namespace heed_mutation

#define HEED_MUTANT(number) (heed_mutation::chosen == (number))
