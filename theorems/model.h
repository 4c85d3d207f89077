// Which of the properties that the theorems are about a model has, trained or not.
#pragma once

#include <memory>
#include <string>

#include "nn/models.h"
#include "theorems/theorem.h"

namespace heed::theorems {

struct Subject {
  std::string title;
  ModelOptions options;
  ModelSizes sizes;
  std::unique_ptr<Model> model;
};

// Measures the model on random inputs of its own kind. What its options promise is a theorem, and
// must hold; of all else it is asked whether it has it. Throws InputError for a model that cannot
// read the few places this takes.
void measure_model(Measurements& m, const Subject& subject);

}  // namespace heed::theorems
