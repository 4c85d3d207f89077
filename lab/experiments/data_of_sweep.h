// The data of a sweep: recorded when its first run starts, and compared ever after.
#pragma once

#include "lab/experiments/plan.h"

namespace heed {

// Throws InputError that names the file if the data of the planned runs are not those with which
// the sweep in the folder began (apps/training/data_record.h). A sweep of heed 0.2.0 recorded none:
// its runs did.
void check_data_of_sweep(const Sweep& sweep, const SweepPlan& plan, const std::string& folder);

// The same, and records the data. Of several processes that do so at the same time the first one
// records, and the others compare.
void record_data_of_sweep(const Sweep& sweep, const SweepPlan& plan, const std::string& folder);

// Returns whether the data of a run cannot be read now, or are not those of the sweep.
bool has_other_data(const PlannedRun& run, const std::string& folder);

}  // namespace heed
