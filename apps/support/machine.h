// What a run was computed on: weights have the same bits on one type of processor only.
#pragma once

#include <string>
#include <vector>

#include "core/scope.h"

namespace heed {

std::string processor_name();                   // as Linux calls it
std::vector<std::string> processor_features();  // those that matter here, such as avx2
const char* precision_name(Precision precision);
std::vector<std::string> available_precisions();

}  // namespace heed
