#include "apps/config/named_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <sys/stat.h>
#include <vector>

#include "apps/support/clock.h"
#include "apps/support/files.h"
#include "apps/support/json.h"
#include "core/check.h"
#include "core/joined.h"
#include "core/suggest.h"

namespace heed {
namespace {

constexpr int64_t max_record_bytes = 1 << 24;
constexpr const char* latest = "latest";

// When the last training of a run started: the time by run.json, or by config.toml, which each
// training writes at its start; and the nanoseconds of the latter, for starts in one second.
using Start = std::pair<std::string, int64_t>;

Start start_of(const std::string& run) {
  struct stat config {};
  ::stat(in_folder(run, run_files::config).c_str(), &config);
  Start start{utc_time(iso_time, config.st_mtime), modified_at(config)};
  try {
    const std::string path = in_folder(run, run_files::record);
    const Json record = read_json(path, "record of a run", max_record_bytes);
    for (const Json& session : record.at("sessions").elements())
      start.first = session.at("start").string();
  } catch (const InputError&) {
    // A damaged record is not a reason to stop.
  }
  return start;
}

// Returns the names of the runs directly in a folder.
std::vector<std::string> runs_named_in(const std::string& folder) {
  std::vector<std::string> names = names_in_folder(folder);
  std::erase_if(names, [&](const std::string& name) {
    const std::string path = in_folder(folder, name);
    return name.starts_with('.') || kind_of(path) != FileKind::folder || !is_run(path);
  });
  return names;
}

// Sorts names by the start of their runs, the newest first.
void sort_by_start(std::vector<std::string>& names, const std::string& folder) {
  std::map<std::string, Start> starts;
  for (const std::string& name : names) starts[name] = start_of(in_folder(folder, name));
  std::ranges::sort(names, std::ranges::greater(),
                    [&](const std::string& name) { return starts[name]; });
}

// Returns whether heed train names runs of the config like this: config, config-2.
bool is_named_after(const std::string& name, const std::string& config) {
  if (!name.starts_with(config)) return false;
  const std::string number = name.substr(config.size());
  return number.empty() || (number.size() > 1 && number[0] == '-' &&
                            std::all_of(number.begin() + 1, number.end(),
                                        [](unsigned char c) { return std::isdigit(c); }));
}

// Returns at most three of the names: the one closest to `typed`, and the newest ones that continue
// it after a hyphen.
std::vector<std::string> similar(const std::string& typed, std::vector<std::string> names,
                                 const std::string& folder) {
  constexpr size_t most = 3;
  const std::string closest = nearest(typed, names);
  std::vector<std::string> close;
  if (!closest.empty()) close.push_back(closest);
  std::erase_if(names, [&](const std::string& name) {
    return name == closest || !name.starts_with(typed + "-");
  });
  sort_by_start(names, folder);
  for (const std::string& name : names)
    if (close.size() < most) close.push_back(name);
  return close;
}

std::string without_slash(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

}  // namespace

bool is_run(const std::string& path) { return exists(in_folder(path, run_files::config)); }

std::string newest_run(const std::string& folder, const std::string& config) {
  std::vector<std::string> names = runs_named_in(folder);
  if (!config.empty())
    std::erase_if(names, [&](const std::string& name) { return !is_named_after(name, config); });
  sort_by_start(names, folder);
  return names.empty() ? "" : in_folder(folder, names[0]);
}

std::string first_name(const std::string& stem) { return stem == latest ? stem + "-1" : stem; }

std::string named_run(const std::string& path) {
  const std::string bare = without_slash(path);
  if (name_of(bare) != latest || kind_of(bare) != FileKind::none) return path;
  const std::string newest = newest_run(folder_of(bare));
  return newest.empty() ? path : newest;
}

std::string no_such_run(const std::string& path, const char* expected) {
  const std::string typed = name_of(path);
  std::string folder = folder_of(without_slash(path));
  std::vector<std::string> names = runs_named_in(folder), close = similar(typed, names, folder);
  if (close.empty()) {
    const std::vector<std::string> usual = runs_named_in("runs");
    std::vector<std::string> found = similar(typed, usual, "runs");
    if (names.empty() || !found.empty()) {
      folder = "runs";
      names = usual;
      close = std::move(found);
    }
  }
  if (names.empty()) return fmt::format("{}: no such {}", path, expected);

  sort_by_start(names, folder);
  const bool is_close = !close.empty();
  if (std::ranges::find(close, names[0]) == close.end()) close.push_back(names[0]);
  for (std::string& name : close) {
    const bool is_newest = name == names[0];
    if (folder != ".") name = in_folder(folder, name);
    if (is_newest && is_close) name += " (the newest)";
  }
  return fmt::format("{}: no such {}; {} {}{}", path, expected,
                     is_close ? "did you mean" : "the newest is", joined(close, " or "),
                     is_close ? "?" : "");
}

}  // namespace heed
