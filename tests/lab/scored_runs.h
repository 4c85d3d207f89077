// Folders of runs for the tests of comparisons.
#pragma once

#include <fmt/format.h>

#include "apps/config/experiment.h"
#include "lab/experiments/groups.h"
#include "temporary.h"

// Runs as folders. Only their config and scores are real.
struct ScoredRuns : TemporaryFolder {
  std::string add(const std::string& name, int64_t seed, double lr, double loss) {
    heed::Experiment experiment;
    experiment.seed = seed;
    experiment.optim.lr = lr;
    return add(name, experiment,
               fmt::format(R"({{"steps": 10, "val": {{"loss": {0}, "exact_match": {0}}}}})", loss));
  }
  std::string add(const std::string& name, const heed::Experiment& experiment,
                  const std::string& result) {
    const std::string folder = path + "/" + name;
    write_run(folder, heed::config_text(heed::list_config(experiment)));
    if (!result.empty()) heed::write_file(folder + "/result.json", result);
    return folder;
  }
  std::vector<heed::ScoredRun> load() const {
    std::vector<heed::ScoredRun> runs;
    for (const std::string& folder : heed::find_runs({path}))
      runs.push_back(heed::ScoredRun::load(folder));
    return runs;
  }
  heed::SeedGroups grouped() const { return heed::group_runs(load()); }
};
