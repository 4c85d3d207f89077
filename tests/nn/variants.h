// Models of all kinds, for tests of properties that every model has.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "nn/models.h"

namespace heed::inline HEED_REAL::testing {

// The relative error that rounding causes in the results of a model.
#ifdef HEED_DOUBLE
inline constexpr double model_rounding = 1e-12;
#else
inline constexpr double model_rounding = 2e-5;
#endif

// One kind of model with some of its options changed.
struct Variant {
  std::string name;
  ModelKind kind;
  std::function<void(ModelOptions&)> change;

  ModelOptions options() const;
};

// Every choice of a config at least once.
const std::vector<Variant>& variants();

// With 6 source tokens, 7 tokens and 3 classes; always with the same weights.
std::unique_ptr<Model> model_of(const Variant& variant);

}  // namespace heed::inline HEED_REAL::testing
