// The runs below a folder, and what a list of them shows, read again only where a file has changed.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "apps/support/json.h"

namespace heed {

class WatchedFolder {
 public:
  explicit WatchedFolder(std::string folder) : folder_(std::move(folder)) {}

  // clang-format off
  // Returns what is in the folder, in the order of names, which are relative to it:
  //
  //   {"runs": [{"name", "state", "date": when it was begun or resumed last, "config": that it was begun with,
  //              "changed": [[name of a key, value], …] where it differs from that config, "steps": of its config,
  //              "step": the last one, "loss", "val_loss", "seconds": trained, "left": seconds,
  //              "x", "y": some points of its loss}, …],
  //    "sweeps": [{"name", "question", "planned": runs, and what add_groups() of lab/report/sweep_page.h sets}, …]}
  //
  // clang-format on
  // Members that a run lacks are left out; runs of a sweep have "config", "changed" and "steps"
  // only
  // while they train. Never throws for what is in the folder. Reading stops
  // after 0.3 s; runs that are not read yet have only names and states, and later calls
  // read them.
  Json rows();
  // Returns whether there is a run or a sweep of this name now. Only such names may be opened.
  bool has(const std::string& name);
  // Changes whenever rows() do; with names, whenever a file of these runs, or of those of these
  // sweeps, does.
  std::string version(const std::vector<std::string>& names = {});

  std::string path(const std::string& name) const {
    return name == "." ? folder_ : folder_ + "/" + name;
  }

 private:
  struct Row {
    std::string signature;  // of what the row was read from; "": not read yet
    Json json;
  };
  using Rows = std::map<std::string, Row>;
  void refresh();
  std::vector<std::string> sweeps_of(const std::string& run) const;  // names, the inner one first
  void read_runs(double end);
  void read_sweeps(double end);

  std::string folder_;
  std::mutex mutex_;
  double refreshed_ = -1;
  Rows runs_, sweeps_;
};

}  // namespace heed
