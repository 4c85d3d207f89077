#include "apps/training/run_record.h"

#include "apps/support/files.h"
#include "apps/training/checkpoint.h"
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
