#include "lab/experiments/data_of_sweep.h"

#include <fmt/format.h>

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

#include "apps/config/used_keys.h"
#include "apps/support/file_lock.h"
#include "apps/support/files.h"
#include "apps/training/run_record.h"
#include "apps/training/saved_run.h"
#include "core/check.h"
#include "core/text.h"
#include "lab/experiments/groups.h"

namespace heed {
namespace {

void add_data_of(const std::string& path, DataRecord& record) {
  const SavedRun run = SavedRun::open(path);
  DataOptions options = run.config.experiment.data;
  const std::string fingerprint = recorded_data(run.folder, options);
  if (fingerprint.empty()) return;
  options.tokenizer.clear();
  DataFiles data;
  for (const auto& [key, file] : data_files(options)) data.paths.push_back(escaped(*file));
  data.fingerprints.resize(data.paths.size());
  data.fingerprints.back() = fingerprint;
  record.add(data);
}

DataRecord record_in(const std::string& folder) {
  DataRecord record = DataRecord::read(folder);
  if (!record.empty()) return record;
  for (const std::string& path : runs_in(folder)) try {
      add_data_of(path, record);
    } catch (const InputError&) {
      // A damaged run is reported where it is used.
    }
  return record;
}

DataRecord checked_record(const Sweep& sweep, const SweepPlan& plan, const std::string& folder) {
  const ConfigListing base = list_config(experiment_of(sweep));
  bool varies = false;
  for (const AxisGroup& group : sweep.groups)
    for (const Axis& axis : group)
      varies = varies || effect_of(axis.key, base) == Field::Effect::data;
  DataRecord record = record_in(folder);
  for (const PlannedRun& run : plan.runs) record.check(run.data, varies);
  return record;
}

}  // namespace

SweepLock::SweepLock(const std::string& folder)
    : file_(::open(in_folder(folder, ".data.lock").c_str(),
                   O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666)) {
  const std::string path = in_folder(folder, ".data.lock");
  if (!file_) cannot("write", path, errno);
  if (!wait_for_lock(file_)) cannot("lock", path, errno);
  // What killed sweeps left: of heed 0.2.0 also under names with the number of the process.
  for (const char* file : {base_file, "sweep.toml", "data.json", origins_file}) {
    remove_leftovers({in_folder(folder, file)});
    for (std::string name : names_in_folder(folder))
      for (const std::string prefix : {"", Aside::prefix})
        if (name.starts_with(fmt::format("{}.{}-", prefix, file)))
          ::unlink(in_folder(folder, name).c_str());
  }
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
