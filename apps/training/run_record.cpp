#include "apps/training/run_record.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/config/used_keys.h"
#include "apps/support/files.h"
#include "apps/training/checkpoint.h"
#include "apps/training/loop_state.h"
#include "core/check.h"
#include "data/corpus.h"

namespace heed {

constexpr int64_t max_record_bytes = 1 << 24;  // some ten thousand sessions

Json sessions_of(const RunFolder& run) {
  const std::string path = run.record();
  if (!exists(path)) return Json::array();
  const auto read = [](const Json& record) {
    Json sessions = Json::array();
    for (const Json& session : record.at("sessions").elements()) {
      (void)session.members();
      sessions.push(session);
    }
    return sessions;
  };
  return read_json(path, "record of a run", max_record_bytes, read,
                   "; no training depends on this file: repair or delete it");
}

std::vector<ConfigDifference> changed_keys(const Experiment& before, const Experiment& now) {
  const ConfigListing config = list_config(before);
  std::vector<ConfigDifference> changed = config_differences(config, list_config(now));
  std::erase_if(changed,
                [&](const ConfigDifference& d) { return !changes_metrics(d.key, config); });
  return changed;
}

std::vector<Segment> segments_of(const RunFolder& run, const Experiment& now) {
  const Json record = sessions_of(run);
  return in_context(
      run.record(),
      [&] {
        std::vector<Segment> sessions;  // the last one first
        Experiment experiment = now;
        for (size_t i = record.elements().size(); i-- > 0;) {
          const Json& session = record.elements()[i];
          const Json* const from_step = session.find("from_step");
          sessions.push_back({from_step ? from_step->integer() : 0, experiment});
          const Json* const changed = session.find("changed");
          if (!changed) continue;
          std::vector<std::string> before;
          for (const auto& [key, values] : changed->members()) {
            check_input(values.elements().size() == 2, "{}: expected two values", key);
            before.push_back(key + "=" + values.elements()[0].string());
          }
          experiment = with_assignments(experiment, before).experiment;
        }
        // A session repeats what was trained after the step from which it began.
        std::vector<Segment> segments = {{0, experiment}};
        std::reverse(sessions.begin(), sessions.end());
        for (const auto& [from_step, used] : sessions) {
          while (!segments.empty() && segments.back().from_step >= from_step) segments.pop_back();
          if (segments.empty() || !changed_keys(segments.back().experiment, used).empty())
            segments.push_back({from_step, used});
        }
        segments.front().from_step = 0;
        for (size_t i = 1; i < segments.size(); ++i)
          check_resumable(list_config(segments[i - 1].experiment),
                          list_config(segments[i].experiment), run.path());
        return segments;
      },
      "; repair or delete it");
}

const Experiment& experiment_at(const std::vector<Segment>& segments, int64_t step) {
  const auto after =
      std::ranges::find_if(segments.begin() + 1, segments.end(),
                           [&](const Segment& segment) { return segment.from_step >= step; });
  return (after - 1)->experiment;
}

ConfigListing config_with_changes(const std::vector<Segment>& segments) {
  ConfigListing config = list_config(segments.front().experiment);
  for (size_t i = 1; i < segments.size(); ++i)
    for (const ConfigDifference& d :
         changed_keys(segments[i - 1].experiment, segments[i].experiment))
      std::ranges::find(config, d.key, &ConfigEntry::key)->value +=
          fmt::format(", {} from step {}", d.b, segments[i].from_step);
  return config;
}

std::string recorded_data(const RunFolder& run, const DataOptions& options) {
  const auto data_in = [&](const Json& json, const std::string& path) {
    return in_context(
        path, [&] { return files_fingerprint(json.at("data").string(), options); },
        "; repair or delete it");
  };
  const Json sessions = sessions_of(run);
  if (!sessions.elements().empty()) return data_in(sessions.elements().back(), run.record());
  const Checkpoints checkpoints(run.checkpoints(), 1);
  if (checkpoints.steps().empty()) return "";
  const Checkpoint newest = checkpoints.open("latest");
  return data_in(newest.state(), newest.path());
}

}  // namespace heed
