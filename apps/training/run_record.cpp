#include "apps/training/run_record.h"

#include <algorithm>

#include "apps/support/files.h"
#include "apps/support/version.h"
#include "apps/training/loop_state.h"
#include "core/check.h"
#include "core/text.h"
#include "data/corpus.h"

namespace heed {

constexpr int64_t max_record_bytes = 1 << 24;  // some ten thousand sessions

Json sessions_of(const RunFolder& run) {
  const std::string path = run.record();
  check_input(
      exists(path),
      "{}: missing: it has the number of the run's format; restore the file, or train again", path);
  Json sessions;
  std::string version;
  int64_t format = 0;
  const auto read = [&](const Json& record) {
    sessions = record.at("sessions");
    check_input(!sessions.elements().empty(), "'sessions' is empty");
    for (const Json& session : sessions.elements()) {
      const int64_t written = session.at("format").integer();
      check_input(written > 0, "'format' is {}", written);
      if (written <= format) continue;
      format = written;
      version = shortened(session.at("heed").string());
    }
  };
  read_json(path, "record of a run", max_record_bytes, read,
            "; restore the file, or train the run again with this version of heed");
  check_input(format <= run_format,
              "{}: written by heed {} in format {}; this is heed {}, which reads formats up to {}: "
              "use heed {} or later",
              path, version, format, program_version, run_format, version);
  return sessions;
}

std::vector<ConfigDifference> changed_keys(const Experiment& before, const Experiment& now) {
  std::vector<ConfigDifference> changed = config_differences(list_config(before), list_config(now));
  std::erase_if(changed, [](const ConfigDifference& d) {  // log_every has the rows of metrics
    return !d.a.changes_result() && d.a.key != "train.log_every";
  });
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
          sessions.push_back({session.at("from_step").integer(), experiment});
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
          check_resumable(segments[i - 1].experiment, segments[i].experiment, run.path());
        return segments;
      },
      "; restore the file");
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
      std::ranges::find(config, d.a.key, &ConfigEntry::key)
          ->later.emplace_back(segments[i].from_step, d.b.value);
  return config;
}

std::string recorded_data(const RunFolder& run, const DataOptions& options) {
  const Json sessions = sessions_of(run);
  return in_context(
      run.record(),
      [&] {
        const Json& session = sessions.elements().back();
        if (options.command.empty()) return files_fingerprint(session.at("data").string(), options);
        const Json& program = session.at("program");
        return program.at("words").text() + program.at("files").text();
      },
      "; restore the file");
}

}  // namespace heed
