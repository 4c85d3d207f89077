#include "lab/experiments/pack.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <poll.h>
#include <set>

#include "apps/support/file_lock.h"
#include "apps/support/files.h"
#include "apps/support/interrupt.h"
#include "apps/support/numbers.h"
#include "apps/support/process.h"
#include "apps/support/shell.h"
#include "apps/support/terminal.h"
#include "apps/support/version.h"
#include "apps/training/checkpoint.h"
#include "apps/training/data_record.h"
#include "apps/training/run_record.h"
#include "apps/training/snapshots.h"
#include "core/check.h"
#include "core/joined.h"
#include "core/text.h"
#include "data/files.h"
#include "lab/experiments/groups.h"
#include "lab/experiments/plan.h"
#include "lab/experiments/run_state.h"

namespace heed {
namespace fs = std::filesystem;

namespace {

struct Entry {
  RunFolder folder;
  std::string name;  // its folder in that of the sweep; "" for a single run
  LoadedConfig config;
  RunState state;
};

struct Source {
  std::string path;
  bool is_sweep = false;
  std::vector<Entry> runs;

  // Returns what f returns for each run, without duplicates, in the order of the runs.
  template <class F>
  std::vector<std::string> distinct(F&& f) const {
    std::vector<std::string> all;
    for (const Entry& run : runs)
      for (std::string& text : f(run))
        if (std::ranges::find(all, text) == all.end()) all.push_back(std::move(text));
    return all;
  }
};

Source opened(const std::string& path) {
  Source source{absolute_path(path, "."), false, {}};
  while (source.path.size() > 1 && source.path.back() == '/') source.path.pop_back();
  source.is_sweep = exists(sweep_file(source.path));
  std::vector<std::string> paths{path};
  if (source.is_sweep) {
    paths = runs_in(source.path);
    check_input(!paths.empty(), "{}: the sweep has no run yet; train it with heed sweep {}", path,
                path);
  } else {
    check_input(!is_folder(path) || is_run(path),
                "{}: neither a run nor a sweep: it has no config.toml and no sweep.toml", path);
  }
  for (const std::string& each : paths) {
    const RunFolder folder = RunFolder::open(each);
    const RunState state = state_of(each);
    check_input(state != RunState::running, "{}: a process is training in it; wait until it ends",
                each);
    source.runs.push_back({folder, source.is_sweep ? each.substr(source.path.size() + 1) : "",
                           load_run_config(folder.config(), {}), state});
  }
  return source;
}

// Puts a file into the folder that is packed: as a hard link, or on another file system as a copy.
void place(const std::string& file, const std::string& to) {
  check_own(file, FileKind::plain);
  std::error_code error;
  fs::create_hard_link(file, to, error);
  if (!error) return;
  AtomicFile copy(to);
  read_parts(file, "plain file", std::numeric_limits<int64_t>::max(),
             [&](std::string_view part) { copy.write(part); });
  copy.commit();
}

void place_if_exists(const std::string& file, const std::string& to) {
  if (kind_of(file) != FileKind::none) place(file, to);
}

// The data files in the archive: data/1-name, data/2-name, …
class DataFolder {
 public:
  DataFolder(const Source& source, std::string folder) : folder_(std::move(folder)) {
    LastCorpus corpora;
    for (const Entry& run : source.runs) {
      const DataOptions& options = run.config.experiment.data;
      const std::string recorded = recorded_data(run.folder, options);
      DataOptions files = options;
      std::map<std::string, std::string> names;
      for (const auto& [key, path] : data_files(files)) names.try_emplace(*path, "");
      check_input(names.empty() ||
                      recorded == files_fingerprint(corpora.of(run.config).fingerprint, options),
                  "{}: the data files have changed since the training; restore them, or leave out "
                  "--with-data",
                  run.folder.path());
      check_input(names_.empty() || names == names_,
                  "--with-data: the runs read different data files; pack them one by one");
      names_ = std::move(names);
    }
    int64_t bytes = 0, index = 0;
    for (auto& [path, name] : names_) {
      bytes += file_size(path);
      name = fmt::format("{}-{}", ++index, name_of(path));
    }
    check_input(bytes <= max_kept_bytes,
                "--with-data: the data files have {} MiB, more than {} MiB; leave it out",
                bytes >> 20, max_kept_bytes >> 20);
    make_subfolder(folder_);
    for (const auto& [path, name] : names_)
      place(fs::canonical(path).string(), in_folder(folder_, name));
  }

  // Returns a config in the folder `to` as text, with the paths of these files relative to it.
  std::string config_in(const std::string& to, Experiment experiment) const {
    for (const auto& [key, path] : data_files(experiment.data)) {
      const std::string file = in_folder(folder_, names_.at(*path));
      *path = fs::path(file).lexically_relative(to).string();
    }
    return config_text(list_config(experiment));
  }

 private:
  std::string folder_;
  std::map<std::string, std::string> names_;  // by path
};

void place_checkpoint(const RunFolder& run, const std::string& to) {
  const Checkpoints checkpoints(run.checkpoints(), 1);
  if (checkpoints.steps().empty()) return;
  const std::string which = checkpoints.has_best() ? "best" : "latest";
  const Checkpoint checkpoint = checkpoints.open(which);
  const std::string folder = in_folder(to, run_files::checkpoints),
                    name = name_of(checkpoint.path());
  make_subfolder(folder);
  make_subfolder(in_folder(folder, name));
  for (const std::string& file : names_in_folder(checkpoint.path()))
    place(in_folder(checkpoint.path(), file), in_folder(in_folder(folder, name), file));
  for (const std::string& link : std::set<std::string>{which, "latest"})
    point_link(in_folder(folder, link), name);
}

void place_snapshots(const RunFolder& run, const std::string& to) {
  const Snapshots from(run.snapshots()), packed(in_folder(to, run_files::snapshots));
  const std::vector<int64_t> steps = from.steps();
  if (!steps.empty()) make_subfolder(in_folder(to, run_files::snapshots));
  for (const int64_t step : steps) place(from.path(step), packed.path(step));
}

void place_run(const Entry& run, const std::string& to, const DataFolder* data, bool checkpoints) {
  make_folders(to);
  if (data)
    write_file(in_folder(to, run_files::config), data->config_in(to, run.config.experiment));
  else
    place(run.folder.config(), in_folder(to, run_files::config));
  for (const std::string& file :
       {run.folder.vocabulary(), run.folder.metrics(), run.folder.result(), run.folder.record(),
        run.folder.log(), run.folder.error()})
    place_if_exists(file, in_folder(to, name_of(file)));
  if (!checkpoints) return;
  place_checkpoint(run.folder, to);
  place_snapshots(run.folder, to);
}

void place_sweep(const std::string& from, const std::string& to, const DataFolder* data) {
  for (const char* file : {sweep_toml, DataRecord::file, origins_file})
    place_if_exists(in_folder(from, file), in_folder(to, file));
  const std::string base = in_folder(from, base_file), packed = in_folder(to, base_file);
  if (data)
    write_file(packed, data->config_in(to, load_run_config(base, {}).experiment));
  else
    place_if_exists(base, packed);
}

// The programs that trained a run: "heed 0.3.0, commit 0f1e2d3c4b5a, on AMD EPYC …".
std::vector<std::string> programs_of(const Entry& run) {
  std::vector<std::string> programs;
  const Json sessions = sessions_of(run.folder);
  for (const Json& session : sessions.elements())
    in_context(run.folder.record(), [&] {
      const std::string commit = session.at("commit").string();
      programs.push_back(one_line(fmt::format("heed {}{} on {}", session.at("heed").string(),
                                              commit.empty() ? "" : ", commit " + commit,
                                              session.at("processor").string())));
    });
  return programs;
}

// The files that a config names and the archive lacks: "data.path = shakespeare.txt".
std::vector<std::string> missing_files(const Entry& run, bool has_data) {
  std::vector<std::string> missing;
  Experiment experiment = run.config.experiment;
  const auto add = [&](const std::string& key, const std::string& path) {
    if (!path.empty()) missing.push_back(fmt::format("{} = {}", key, one_line(name_of(path))));
  };
  if (!has_data)
    for (const auto& [key, path] : data_files(experiment.data))
      add(std::string("data.") + key, *path);
  add("train.load", experiment.train.load);
  return missing;
}

std::string readme(const Source& source, const std::string& name, const PackOptions& options) {
  const bool has_data = !options.data_licence.empty();
  std::map<RunState, int64_t> states;
  std::string failures;
  for (const Entry& run : source.runs) {
    ++states[run.state];
    if (run.state == RunState::failed)
      failures +=
          "  " + one_line((run.name.empty() ? "" : run.name + ": ") + error_of(run.folder.path())) +
          "\n";
  }
  std::vector<std::string> counts;
  for (const auto& [state, count] : states)
    counts.push_back(fmt::format("{} {}", count, name_of(run_state_names, state)));
  std::string text = fmt::format(
      "{}: a {} of heed, packed by heed {}\n\nRuns: {}\n{}\nTrained by:\n", one_line(name),
      source.is_sweep ? "sweep" : "training run", program_version, joined(counts), failures);
  for (const std::string& program : source.distinct(programs_of)) text += "  " + program + "\n";

  const std::vector<std::string> missing =
      source.distinct([&](const Entry& run) { return missing_files(run, has_data); });
  std::string set;  // for the commands below
  if (missing.empty()) {
    text += has_data ? "\nThe data files are in data/. Their licence: " +
                           one_line(options.data_licence) + "\n"
                     : "\nThe config generates the data. No file is needed.\n";
  } else {
    text += "\nThese files are not here. heed checks that the data are the same:\n";
    for (const std::string& file : missing) {
      text += "  " + file + "\n";
      const std::string option = fmt::format(" --set {}=FILE", file.substr(0, file.find(' ')));
      if (set.find(option) == set.npos) set += option;
    }
    for (const std::string& data : source.distinct([](const Entry& run) {
           return std::vector{recorded_data(run.folder, run.config.experiment.data)};
         }))
      if (!data.empty()) text += "  fingerprint of the data: " + data + "\n";
  }

  const std::string folder = shell_word(name);
  const std::string first = source.is_sweep ? shell_word(name + "/" + source.runs[0].name) : folder;
  text += "\nTo look at the results:\n";
  text += "  heed compare " + folder + "\n  heed report " + folder + "\n";
  text += "\nTo train " + std::string(source.is_sweep ? "one run" : "it") +
          " again, and compare it with this one bit by bit:\n";
  text += fmt::format("  heed train --from {} --run again{}\n", first, set);
  if (source.is_sweep)
    text += fmt::format("\nTo train all runs again:\n  heed sweep {} --run all-again{}\n",
                        shell_word(name + "/sweep.toml"), set);
  text +=
      "\nThe same version of heed gives the same bits on the same kind of processor. Elsewhere the "
      "last\ndigits may differ.\n";
  if (!options.checkpoints)
    text += "There are no checkpoints: train --from compares the metrics of every step.\n";
  return text;
}

// Writes a folder as an archive. Returns false if a signal interrupts it.
bool write_archive(const std::string& parent, const std::string& name, const std::string& output) {
  constexpr const char* purpose = "cannot start tar";
  AtomicFile file(output);
  ProcessPipe errors = make_pipe(purpose);
  Process tar(
      {.program = "tar",
       .arguments = {"tar", "-czf", "-", "-C", parent, "--", name},
       .descriptors = {{file.descriptor(), STDOUT_FILENO}, {errors.writing, STDERR_FILENO}}},
      purpose);
  errors.writing.close();
  std::string said;
  char part[4096];
  for (ssize_t count = 1; count != 0 && !interrupted();) {
    pollfd waiting{errors.reading, POLLIN, 0};
    if (::poll(&waiting, 1, 100) <= 0) continue;
    count = ::read(errors.reading, part, sizeof part);
    if (count > 0 && said.size() < sizeof part) said.append(part, static_cast<size_t>(count));
  }
  if (interrupted()) tar.signal_group(SIGTERM);
  const ProcessEnd end = tar.wait();
  if (interrupted()) return false;
  check(end.shell_code() != 127, "heed pack needs the programs tar and gzip; install them");
  check(end.shell_code() == 0,
        "{}: cannot write the archive: {}; free space, or choose another "
        "folder with --output",
        output, escaped(said.substr(0, said.find('\n'))));
  file.commit();
  return true;
}

// Returns the name of the folder in an archive; "" if it does not end as an archive should.
std::string folder_in(const std::string& output) {
  const std::string name = name_of(output);
  for (const std::string_view end : {".tgz", ".tar.gz"})
    if (name.ends_with(end)) return name.substr(0, name.size() - end.size());
  return "";
}

}  // namespace

Packed pack(const PackOptions& options) {
  const Source source = opened(options.path);
  const std::string name = folder_in(options.output);
  check_input(!name.empty(), "--output {}: expected a name that ends in .tgz or .tar.gz",
              options.output);
  // Archives of one name would share their temporary files.
  const Descriptor held(lock_folder(folder_of(options.output)));
  check_input(!exists(options.output),
              "{}: already exists; remove it, or choose another name with --output",
              options.output);
  const std::string output = output_path(options.output);
  const bool has_files =
      !source.distinct([](const Entry& run) { return missing_files(run, false); }).empty();
  const bool with_data = !options.data_licence.empty();
  check_input(!with_data || has_files, "--with-data: the config generates the data; leave it out");

  const InterruptGuard guard;
  const AtomicFolder parent(in_folder(folder_of(output), name));
  const std::string folder = in_folder(parent.aside(), name);
  make_subfolder(folder);
  std::optional<DataFolder> data;
  if (with_data) data.emplace(source, in_folder(folder, "data"));
  for (const Entry& run : source.runs)
    place_run(run, run.name.empty() ? folder : in_folder(folder, run.name), data ? &*data : nullptr,
              options.checkpoints);
  if (source.is_sweep) place_sweep(source.path, folder, data ? &*data : nullptr);
  write_file(in_folder(folder, "README.txt"), readme(source, name, options));

  Packed packed{std::ssize(source.runs), 0, has_files && !with_data, false};
  for (const Entry& run : source.runs) packed.failed += run.state == RunState::failed;
  packed.interrupted = !write_archive(parent.aside(), name, output);
  return packed;
}

}  // namespace heed
