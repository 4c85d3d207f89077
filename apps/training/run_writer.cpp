#include "apps/training/run_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/inference/vocabulary_file.h"
#include "apps/support/clock.h"
#include "apps/support/file_lock.h"
#include "apps/support/files.h"
#include "apps/support/log.h"
#include "apps/support/machine.h"
#include "apps/support/numbers.h"
#include "apps/support/together.h"
#include "apps/support/version.h"
#include "apps/training/example_program.h"
#include "apps/training/run_record.h"
#include "core/check.h"
#include "core/kernels/gemm/view.h"
#include "core/parallel.h"
#include "core/precision.h"
#include "core/system_memory.h"
#include "core/text.h"
#include "data/files.h"

namespace heed {

// With data.keep copies the data files into the run. Returns the options for config.toml: the same,
// with paths of the copies relative to it. Throws InputError if the files are larger than
// max_kept_bytes.
static DataOptions keep_data(const RunFolder& run, const DataOptions& options) {
  DataOptions kept = options;
  if (!options.keep) return kept;
  int64_t bytes = 0;
  for (const auto& [key, path] : data_files(kept)) bytes += file_size(*path);
  check_input(
      bytes <= max_kept_bytes,
      "`data.keep`: the files have {} MiB; at most {} MiB are copied into a run: set it to false",
      bytes >> 20, max_kept_bytes >> 20);
  make_folders(run.data());
  const std::string folder = absolute_path(run.data(), ".");
  int index = 0;
  for (const auto& [key, path] : data_files(kept)) {
    const bool is_copy = folder_of(absolute_path(*path, ".")) == folder;
    const std::string name =
        is_copy ? name_of(*path) : fmt::format("{}-{}-{}", ++index, key, name_of(*path));
    if (!is_copy)
      write_file(in_folder(run.data(), name), read_file(*path, "data file", max_kept_bytes));
    *path = in_folder(name_of(run.data()), name);
  }
  return kept;
}

// Returns where each key is set whose value is not the default.
static Json origins_of(const LoadedConfig& config, const std::string& sweep) {
  constexpr int64_t max_origins_bytes = 1 << 20;
  Json origins = Json::object(), of_base = Json::object();
  if (const std::string path = own_file(sweep, origins_file); !sweep.empty() && exists(path))
    of_base = read_json(path, "record of a sweep", max_origins_bytes);
  const auto location = [&](const std::string& key, const Origin& origin) {
    if (!sweep.empty() && origin.kind == Origin::Kind::command_line) return std::string("sweep");
    const Json* const recorded = of_base.find(key);
    return recorded ? recorded->string() : origin.location();
  };
  for (const auto& [entry, standard] : changed_values(config.experiment))
    if (const auto origin = config.origins.find(entry.key); origin != config.origins.end())
      origins.set(entry.key, escaped(location(entry.key, origin->second)));
  return origins;
}

RunWriter::RunWriter(const RunFolder& run, bool resumes, int64_t keep_checkpoints)
    : run_(run),
      resumes_(resumes),
      lock_(run.open_lock()),
      checkpoints_(run.checkpoints(), keep_checkpoints) {
  if (!try_lock(lock_)) {
    check(errno == EAGAIN || errno == EACCES, "{}: cannot lock: {}", run.lock(),
          std::strerror(errno));
    char holder[32] = "";
    const ssize_t length = ::read(lock_, holder, sizeof holder - 1);
    throw InputError(fmt::format(
        "{}: process {} is training in it; wait until it ends, or choose another folder with --run",
        run.path(), std::string_view(holder, static_cast<size_t>(std::max<ssize_t>(length, 0)))));
  }
  check_held();
  remove_leftovers(run.files());
  const std::string process = std::to_string(::getpid());
  // Only the error message above uses it.
  if (::ftruncate(lock_, 0) == 0) (void)!::write(lock_, process.data(), process.size());
  if (!resumes) run.check_empty();  // another process may have trained in it meanwhile
}

RunWriter::~RunWriter() {
  if (session_.is_null() || phase_ == Phase::ended) return;
  try {
    end_session();
  } catch (const Error&) {
    // The folder is gone, or the disk is full: the exception that ended the training says so.
  }
}

void RunWriter::check_held() const {
  struct stat held {
  }, found{};
  const bool same = ::fstat(lock_, &held) == 0 && ::lstat(run_.lock().c_str(), &found) == 0 &&
                    held.st_dev == found.st_dev && held.st_ino == found.st_ino;
  check(
      same,
      "{}: no longer the folder that this process trains in: it was renamed, replaced or deleted; "
      "training stops; if the folder has another name now, resume it there",
      run_.path());
}

void RunWriter::begin(const LoadedConfig& config, const Corpus& corpus, int64_t from_step,
                      int64_t best_step, const std::string& sweep) {
  check_held();
  earlier_ = exists(run_.record()) ? sessions_of(run_) : Json::array();
  const int64_t log_every = config.experiment.train.log_every;
  if (log_every > 0 && from_step >= log_every && !exists(run_.metrics()))
    logging::warning("{}: missing; the rows up to step {} are lost", run_.metrics(), from_step);
  metrics_.emplace(run_.metrics(), from_step);
  checkpoints_.clean_up();
  if (from_step > 0) checkpoints_.settle(from_step, best_step);
  Snapshots(run_.snapshots()).settle(from_step);
  begin_session(config, corpus, from_step, sweep);
  Experiment written = config.experiment;
  written.data =
      with_origins(config.origins, [&] { return keep_data(run_, config.experiment.data); });
  written_ = {{run_.config(), config_text(list_config(written))},
              {run_.vocabulary(), vocabulary_text(corpus)}};
  if (!corpus.kept_lines.empty()) make_folders(run_.data());
  for (const auto& [split, lines] : corpus.kept_lines)
    written_.emplace_back(in_folder(run_.data(), kept_file(split)), lines);
  for (const auto& [path, text] : written_) write_file(path, text);
  logging::open_file(run_.log());
  remove_all(run_.error());
  phase_ = Phase::training;
}

template <class Write>
void RunWriter::held(const Write& write) const {
  check_held();
  try {
    write();
  } catch (const Error&) {
    check_held();  // the reason, if the folder was renamed or deleted meanwhile
    throw;
  }
}

void RunWriter::row(const Json& row) {
  held([&] { metrics_->write(row); });
}

void RunWriter::save(int64_t step, const std::vector<NamedParameter>& model,
                     const std::vector<NamedParameter>& optimizer, Json state, int64_t best_step,
                     const Metadata& metadata) {
  held([&] {
    restore();
    checkpoints_.save(step, model, optimizer, std::move(state), best_step, metadata);
  });
}

void RunWriter::snapshot(int64_t step, const std::vector<NamedParameter>& model, int64_t keep,
                         const Metadata& metadata) {
  held([&] { Snapshots(run_.snapshots()).save(step, model, keep, metadata); });
}

void RunWriter::result(const TrainingResult& result) {
  held([&] { write_file(run_.result(), result.json().text(2) + "\n"); });
}

void RunWriter::restore() {
  metrics_->sync();
  for (const auto& [path, text] : written_)
    if (kind_of(path) == FileKind::none) {
      logging::warning("{}: deleted during the training; written again", path);
      write_file(path, text);
    }
}

void RunWriter::end() {
  held([&] { restore(); });
  logging::check_file();
  logging::close_file();
  phase_ = Phase::ended;
  end_session();
}

void RunWriter::failed(const std::exception& error) {
  if (phase_ == Phase::locked) {
    logging::close_file();
    if (!resumes_) run_.discard();
  }
  if (phase_ != Phase::training) return;
  try {
    check_held();
    write_file(run_.error(), shortened(error.what(), 5000) + "\n");
  } catch (const Error&) {
    // The folder is gone, or the disk is full: the error that ended the training says so.
  }
}

void RunWriter::begin_session(const LoadedConfig& config, const Corpus& corpus, int64_t from_step,
                              const std::string& sweep) {
  started_ = now();
  cpu_started_ = cpu_seconds();
  Json session =
      Json::object()
          .set("command", Json::list(command_line(), escaped))
          .set("format", run_format)
          .set("heed", program_version)
          .set("commit", program_commit())
          .set("compiler", program_compiler)
          .set("flags", program_flags)
          .set("kernels", program_kernels)
          .set("processor", escaped(processor_name()))
          .set("threads", int64_t{thread_count()})
          .set("precision", precision_name(effective_precision(config.experiment.precision)))
          .set("blas", kernels::blas_backend())
          .set("data", corpus.fingerprint)
          .set("from_step", from_step)
          .set("set_in", origins_of(config, sweep))
          .set("start", utc_time(iso_time));
  if (const auto& command = config.experiment.data.command; !command.empty())
    session.set("program", program_record(command, corpus));
  if (!sweep.empty()) session.set("sweep", escaped(sweep));
  if (resumes_ && exists(run_.config())) {
    Json changed = Json::object();
    for (const ConfigDifference& d :
         changed_keys(load_run_config(run_.config(), {}).experiment, config.experiment))
      changed.set(d.a.key, Json::array({d.a.text(), d.b.text()}));
    if (!changed.members().empty()) session.set("changed", std::move(changed));
  }
  if (rank_count() > 1) session.set("ranks", int64_t{rank_count()});
  session_ = std::move(session);
  write_session();
}

// The most memory that this process has held, in MiB; null where the system does not say.
static Json peak_memory() {
  try {
    return std::round(peak_resident_memory() / (1 << 20) * 10) / 10;
  } catch (const Error&) {
    return {};
  }
}

void RunWriter::end_session() {
  check_held();
  session_.set("end", utc_time(iso_time))
      .set("seconds", to_milliseconds(now() - started_))
      .set("cpu_seconds", to_milliseconds(cpu_seconds() - cpu_started_))
      .set("peak_rss_mb", peak_memory());
  write_session();
}

void RunWriter::write_session() const {
  Json sessions = earlier_;
  sessions.push(session_);
  write_file(run_.record(), Json::object().set("sessions", std::move(sessions)).text(2) + "\n");
}

}  // namespace heed
