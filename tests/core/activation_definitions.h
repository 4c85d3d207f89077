// The activations of core/activation.h in double.
#pragma once

#include <array>

#include "core/reference/activation.h"

namespace heed::inline HEED_REAL::testing {

struct ActivationDefinition {
  const char* name;
  Activation function;
  double (*value)(double);
};

namespace definitions {

inline const auto all = [] {
  std::array<ActivationDefinition, std::size(activations::table)> list{};
  for (size_t i = 0; i < list.size(); ++i) {
    const activations::Row& row = activations::table[i];
    list[i] = {name_of(row.name), row.name, row.value};
  }
  return list;
}();

}  // namespace definitions
}  // namespace heed::inline HEED_REAL::testing
