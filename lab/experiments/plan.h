// The runs of a sweep, checked before the first one starts.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/config/load_config.h"
#include "apps/cost/summary.h"
#include "apps/training/data_record.h"
#include "apps/training/measures.h"
#include "apps/training/run_folder.h"
#include "data/corpus.h"
#include "lab/experiments/points.h"
#include "lab/experiments/sweep_options.h"

namespace heed {

// Returns the identity of a run, what its result depends on: the SHA-256 of the values of its
// config that change it (ConfigEntry::changes_result()), and of the fingerprint of
// its data (data/corpus.h), wherever its files are.
std::string identity_of(const ConfigListing& config, const std::string& fingerprint);
// The same for a run, from its config.toml and its newest checkpoint. None without a checkpoint.
// Throws InputError if one of them is damaged.
std::optional<std::string> identity_of(const RunFolder& run);

struct PlannedRun {
  size_t point = 0;
  int64_t seed = 0;
  std::string name;  // "lr=0.001/seed-1"
  std::string path;  // its folder: of this name, or where a run of the same identity is already
  std::vector<std::string> assignments;  // --set of what differs from the base
  LoadedConfig config;
  DataFiles data;
  std::string identity;
  int64_t parameters = 0;
  Flops flops;          // of a training step
  double memory = 0;    // at its peak, in bytes
  std::string refusal;  // why it cannot be trained; "" if it can
};

struct SweepPlan {
  std::vector<Point> points;
  std::vector<PlannedRun> runs;  // the seeds of the first point, of the second …
  std::string metric;            // that halving ranks by
};

// Resolves and checks each run as `heed train` does before its first step. What its config or its
// data forbid becomes its refusal, also a name of train.measures that is not among `known`. Runs of
// the folder are taken as they are.
SweepPlan plan_sweep(const Sweep& sweep, const std::string& folder, Measures known);

// Throws InputError if `jobs` runs at a time may need more than `available` bytes. Runs that are
// done need none.
void check_jobs(const SweepPlan& plan, int64_t jobs, double available);

// Throws InputError if the folder holds something other than this sweep, perhaps with other axes
// and seeds: files without a sweep.toml, a sweep by another method, or one whose base differs in a
// key that matters and does not vary.
void check_folder(const Sweep& sweep, const std::string& folder);

// The data of runs. Keeps the last ones: runs that follow one another often share them.
class LastCorpus {
 public:
  const Corpus& of(const LoadedConfig& config);

 private:
  std::string settings_;  // on which the data depend
  std::unique_ptr<Corpus> corpus_;
};

// Returns the time of a training step with one thread, measured.
double step_seconds(const PlannedRun& run, const Corpus& corpus);

}  // namespace heed
