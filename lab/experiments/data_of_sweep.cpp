#include "lab/experiments/data_of_sweep.h"

#include <cerrno>
#include <fcntl.h>

#include "apps/support/file_lock.h"
#include "apps/support/files.h"
#include "apps/training/load_data.h"
#include "apps/training/run_record.h"
#include "core/check.h"

namespace heed {

static DataRecord checked_record(const Sweep& sweep, const SweepPlan& plan,
                                 const std::string& folder) {
  const ConfigListing base = list_config(experiment_of(sweep));
  bool varies = !experiment_of(sweep).data.command.empty();  // each seed has its examples
  for (const AxisGroup& group : sweep.groups)
    for (const Axis& axis : group)
      varies = varies || effect_of(base, axis.key) == Field::Effect::data;
  DataRecord record = DataRecord::read(folder);
  for (const PlannedRun& run : plan.runs) record.check(run.data, varies);
  return record;
}

SweepLock::SweepLock(const std::string& folder)
    : file_(::open(in_folder(folder, ".data.lock").c_str(),
                   O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666)) {
  const std::string path = in_folder(folder, ".data.lock");
  if (!file_) cannot("write", path, errno);
  if (!wait_for_lock(file_)) cannot("lock", path, errno);
  for (const char* file : {base_file, sweep_toml, DataRecord::file, origins_file})
    remove_leftovers({in_folder(folder, file)});
}

void check_data_of_sweep(const Sweep& sweep, const SweepPlan& plan, const std::string& folder) {
  checked_record(sweep, plan, folder);
}

void record_data_of_sweep(const Sweep& sweep, const SweepPlan& plan, const std::string& folder) {
  DataRecord record = checked_record(sweep, plan, folder);
  for (const PlannedRun& run : plan.runs) record.add(run.data);
  record.write();
}

bool has_other_data(const PlannedRun& run, const std::string& folder) {
  try {
    DataRecord::read(folder).check(DataFiles::of(load_data(run.config)), false);
    return false;
  } catch (const InputError&) {
    return true;
  }
}

}  // namespace heed
