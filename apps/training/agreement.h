// Whether the processes of a run, or of its evaluation (core/ranks.h), compute the same.
#pragma once

#include <string>

#include "apps/config/experiment.h"
#include "apps/training/checkpoint.h"

namespace heed {

// What must be the same on all ranks, besides the program and the config.
struct SharedInputs {
  std::string data = {};                   // its fingerprint
  const Checkpoint* checkpoint = nullptr;  // null if there is none
};

// Throws InputError if rank 0 has another program, config or input. All ranks must call it.
void check_agreement(const Experiment& experiment, const SharedInputs& inputs);

}  // namespace heed
