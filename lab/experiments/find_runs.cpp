// The runs below a folder, in the order of their sweep: see groups.h.
#include <algorithm>
#include <cstdint>
#include <iterator>

#include "apps/support/files.h"
#include "apps/support/names.h"
#include "apps/training/saved_run.h"
#include "core/check.h"
#include "lab/experiments/groups.h"
#include "lab/experiments/points.h"
#include "lab/experiments/sweep_options.h"

namespace heed {

constexpr size_t max_runs = 100'000;
constexpr int max_depth = 6;  // of folders below a path

static void add_runs_in(const std::string& folder, int depth, std::vector<std::string>& runs) {
  std::vector<std::string> names = names_in_folder(folder);
  std::ranges::sort(names, comes_before);
  for (const std::string& name : names) {
    const std::string path = in_folder(folder, name);
    if (name.starts_with('.') || kind_of(path) != FileKind::folder) continue;
    if (is_run(path))
      runs.push_back(path);
    else if (depth > 1)
      add_runs_in(path, depth - 1, runs);
    check_input(runs.size() <= max_runs, "{}: more than {} runs; name fewer", folder, max_runs);
  }
}

// Moves the runs in the folder of a sweep into the order of its points.
static void order_by_sweep(const std::string& folder, std::vector<std::string>& runs) {
  const std::string path = sweep_file(folder);
  if (!exists(path)) return;
  SweepArguments arguments;
  arguments.path = path;
  const SweepOrder order(read_sweep(arguments));
  std::vector<std::pair<size_t, std::string>> ranked;
  for (std::string& run : runs) {
    size_t rank = SIZE_MAX;
    try {
      rank = order.rank(list_config(SavedRun::open(run).config.experiment));
    } catch (const InputError&) {  // a damaged run comes last; who reads it says what is wrong
    }
    ranked.emplace_back(rank, std::move(run));
  }
  std::ranges::stable_sort(ranked, {}, [](const auto& each) { return each.first; });
  runs.clear();
  for (auto& [at, run] : ranked) runs.push_back(std::move(run));
}

std::vector<std::string> runs_in(const std::string& folder) {
  std::vector<std::string> runs;
  add_runs_in(folder, max_depth, runs);
  return runs;
}

std::vector<std::string> find_runs(const std::vector<std::string>& paths) {
  std::vector<std::string> runs;
  for (const std::string& path : paths) {
    if (!is_folder(path) || is_run(path)) {
      runs.push_back(path);
      continue;
    }
    std::vector<std::string> found = runs_in(path);
    check_input(!found.empty(), "{}: neither a run nor a folder of runs: no config.toml", path);
    order_by_sweep(path, found);
    std::ranges::move(found, std::back_inserter(runs));
  }
  return runs;
}

}  // namespace heed
