// The properties that the claims are about, of a model, trained or not.
#pragma once

#include <memory>
#include <string>

#include "lab/claims/claim.h"
#include "nn/models.h"

namespace heed::claims {

struct Subject {
  std::string title;
  ModelOptions options;
  ModelSizes sizes;
  std::unique_ptr<Model> model;
  int64_t step = 0;  // of its weights
};

// The properties of the model, measured on random inputs. One that its options guarantee must hold;
// any other is a question. `subject` must outlive them. Measuring throws InputError for a model
// that cannot read three positions.
Topic properties_of(const Subject& subject);

}  // namespace heed::claims
