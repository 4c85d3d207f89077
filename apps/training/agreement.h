// Whether the processes of a run, or of its evaluation (core/ranks.h), compute the same.
#pragma once

#include <string>

#include "apps/config/experiment.h"
#include "apps/training/checkpoint.h"

namespace heed {

// Throws InputError if rank 0 has another program, config, fingerprint of the data or checkpoint
// (null: none). All ranks must call it.
void check_agreement(const Experiment& experiment, const std::string& data,
                     const Checkpoint* checkpoint = nullptr);

}  // namespace heed
