// Models of all kinds, for the tests of what every model must keep to.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "nn/models.h"

namespace heed::inline HEED_REAL::testing {

// One kind of model with some of its options changed.
struct Variant {
  std::string name;
  ModelKind kind;
  std::function<void(ModelOptions&)> change;

  ModelOptions options() const;
};

// What a config can choose, each of it at least once.
const std::vector<Variant>& variants();

// Of 6 source symbols, 7 symbols and 3 classes; always with the same weights.
std::unique_ptr<Model> model_of(const Variant& variant);

}  // namespace heed::inline HEED_REAL::testing
