#include "apps/training/run_record.h"

#include <fmt/format.h>

#include <cmath>

#include "apps/support/clock.h"
#include "apps/support/files.h"
#include "apps/support/machine.h"
#include "apps/support/numbers.h"
#include "apps/support/version.h"
#include "apps/training/checkpoint.h"
#include "core/check.h"
#include "core/kernels/gemm/view.h"
#include "core/parallel.h"
#include "core/precision.h"
#include "core/ranks.h"
#include "core/text.h"
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

// Returns where each key is set whose value is not the default.
static Json origins_of(const LoadedConfig& config, const std::string& sweep) {
  constexpr int64_t max_bytes = 1 << 20;
  Json origins = Json::object(), of_base = Json::object();
  if (const std::string path = in_folder(sweep, origins_file); !sweep.empty() && exists(path))
    of_base = read_json(path, "record of a sweep", max_bytes);
  const auto location = [&](const std::string& key, const Origin& origin) {
    if (!sweep.empty() && origin.kind == Origin::Kind::command_line) return std::string("sweep");
    const Json* const recorded = of_base.find(key);
    return recorded ? recorded->string() : origin.location();
  };
  for (const ConfigDifference& difference : changed_values(config.experiment))
    if (const auto origin = config.origins.find(difference.key); origin != config.origins.end())
      origins.set(difference.key, escaped(location(difference.key, origin->second)));
  return origins;
}

RunSession::RunSession(const RunLock& lock, const LoadedConfig& config,
                       const std::string& data_fingerprint, int64_t from_step,
                       const std::string& sweep)
    : lock_(lock),
      earlier_(sessions_of(lock.folder())),
      session_(Json::object()),
      started_(now()),
      cpu_started_(cpu_seconds()) {
  Json command = Json::array();
  for (const std::string& argument : command_line()) command.push(escaped(argument));
  session_.set("command", std::move(command))
      .set("heed", program_version)
      .set("commit", program_commit())
      .set("compiler", program_compiler)
      .set("flags", program_flags)
      .set("processor", escaped(processor_name()))
      .set("threads", int64_t{thread_count()})
      .set("precision", precision_name(effective_precision(config.experiment.precision)))
      .set("blas", kernels::blas_backend())
      .set("data", data_fingerprint)
      .set("from_step", from_step)
      .set("set_in", origins_of(config, sweep))
      .set("start", utc_time(iso_time));
  if (!sweep.empty()) session_.set("sweep", escaped(sweep));
  if (rank_count() > 1) session_.set("ranks", int64_t{rank_count()});
  write(session_);
}

RunSession::~RunSession() {
  if (ended_) return;
  try {
    end();
  } catch (const Error&) {
    // The folder is gone, or the disk is full: the exception that ended the training says so.
  }
}

void RunSession::end() {
  ended_ = true;
  lock_.check_held();
  session_.set("end", utc_time(iso_time))
      .set("seconds", to_milliseconds(now() - started_))
      .set("cpu_seconds", to_milliseconds(cpu_seconds() - cpu_started_));
  write(session_);
}

void RunSession::write(Json session) const {
  Json sessions = earlier_;
  sessions.push(std::move(session));
  write_file(lock_.folder().record(),
             Json::object().set("sessions", std::move(sessions)).text(2) + "\n");
}

}  // namespace heed
