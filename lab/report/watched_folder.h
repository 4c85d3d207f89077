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

  // Returns [{"name", "state", "step", "loss", "val_loss"}, …] in the order of names, which are
  // relative to the folder. Numbers that a run lacks are left out. Never throws for what is in the
  // folder.
  Json rows();
  // Returns whether there is a run of this name now. Only such names may be opened.
  bool has(const std::string& name);
  // Changes whenever rows() do; with a name, whenever a file of this run does.
  std::string version(const std::vector<std::string>& names = {});

  std::string path(const std::string& name) const { return folder_ + "/" + name; }

 private:
  struct Row {
    std::string signature;  // of what the row was read from
    Json json;
  };
  void refresh();

  std::string folder_;
  std::mutex mutex_;
  double refreshed_ = -1;
  std::map<std::string, Row> rows_;
};

}  // namespace heed
