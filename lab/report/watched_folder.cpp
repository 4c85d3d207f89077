#include "lab/report/watched_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <sys/stat.h>

#include "apps/support/clock.h"
#include "apps/support/digest.h"
#include "apps/support/files.h"
#include "apps/training/metrics.h"
#include "core/check.h"
#include "lab/experiments/curves.h"
#include "lab/experiments/groups.h"
#include "lab/experiments/run_state.h"

namespace heed {

namespace {

constexpr double seconds_between_reads = 0.5;

// Time and size of a file; "" if there is none.
std::string signature_of_file(const std::string& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) return "";
  return fmt::format("{}:{}", modified_at(found), found.st_size);
}

std::string signature_of(const RunFolder& run, RunState state) {
  return fmt::format("{} {} {} {}", name_of(run_state_names, state),
                     signature_of_file(run.metrics()), signature_of_file(run.result()),
                     signature_of_file(run.config()));
}

Json row_of(const std::string& name, const RunFolder& run, RunState state) {
  Json row = Json::object().set("name", name).set("state", name_of(run_state_names, state));
  const Curves last = curves_of(last_metrics(run.metrics()));
  if (!last.curves.empty()) row.set("step", last.last_step());
  for (const auto& [member, score] : {std::pair("loss", "loss"), {"val_loss", "val.loss"}})
    if (const Curve* curve = last.find(score)) row.set(member, curve->values.back());
  return row;
}

}  // namespace

void WatchedFolder::refresh() {
  if (refreshed_ >= 0 && now() - refreshed_ < seconds_between_reads) return;
  std::vector<std::string> paths;
  try {
    paths = is_run(folder_) ? std::vector{folder_} : runs_in(folder_);
  } catch (const Error&) {
    // There is no run yet, or the folder is gone.
  }
  std::map<std::string, Row> rows;
  for (const std::string& path : paths) {
    const std::string name = path.size() > folder_.size() ? path.substr(folder_.size() + 1) : ".";
    try {
      const RunFolder run = RunFolder::open(path);
      const RunState state = state_of(path);
      const std::string signature = signature_of(run, state);
      const auto known = rows_.find(name);
      if (known != rows_.end() && known->second.signature == signature)
        rows[name] = std::move(known->second);
      else
        rows[name] = {signature, row_of(name, run, state)};
    } catch (const Error&) {
      rows[name] = {"damaged", Json::object().set("name", name).set("state", "damaged")};
    }
  }
  rows_ = std::move(rows);
  refreshed_ = now();
}

Json WatchedFolder::rows() {
  const std::lock_guard lock(mutex_);
  refresh();
  Json list = Json::array();
  for (const auto& [name, row] : rows_) list.push(row.json);
  return list;
}

bool WatchedFolder::has(const std::string& name) {
  const std::lock_guard lock(mutex_);
  refresh();
  return rows_.contains(name);
}

std::string WatchedFolder::version(const std::vector<std::string>& names) {
  const std::lock_guard lock(mutex_);
  refresh();
  std::string text;
  for (const auto& [name, row] : rows_)
    if (names.empty() || std::ranges::find(names, name) != names.end())
      text += name + '\n' + row.signature + '\n';
  return sha256(text);
}

}  // namespace heed
