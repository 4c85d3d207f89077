// The data of a sweep: recorded when its first run starts, and compared ever after.
#pragma once

#include "lab/experiments/plan.h"

namespace heed {

// Throws InputError that names the file if the data of the planned runs are not those with which
// the sweep in the folder began (apps/training/data_record.h).
void check_data_of_sweep(const Sweep& sweep, const SweepPlan& plan, const std::string& folder);

// A lock that only one process has at a time, also on NFS, as that of a run
// (apps/training/run_folder.h): for writing the files of a sweep. Removes what killed ones left.
class SweepLock {
 public:
  explicit SweepLock(const std::string& folder);  // waits until no other process has it

 private:
  Descriptor file_;
};

// The same as check_data_of_sweep(), and records the data. Call it with a SweepLock: of several
// processes the first one records, and the others compare.
void record_data_of_sweep(const Sweep& sweep, const SweepPlan& plan, const std::string& folder);

// Returns whether the data of a run cannot be read now, or are not those of the sweep.
bool has_other_data(const PlannedRun& run, const std::string& folder);

}  // namespace heed
