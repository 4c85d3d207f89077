// The properties that the claims are about, measured on a model, trained or not.
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

// Measures the model on random inputs. A property that its options guarantee must hold; any other
// is a question. Throws InputError for a model that cannot read three positions.
void measure_model(Measurements& m, const Subject& subject);

}  // namespace heed::claims
