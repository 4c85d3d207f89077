#include "apps/training/reproduction.h"

#include <fmt/format.h>

#include <cstring>
#include <limits>
#include <map>

#include "apps/support/files.h"
#include "apps/support/machine.h"
#include "apps/support/version.h"
#include "apps/training/binding.h"
#include "apps/training/metrics.h"
#include "core/check.h"
#include "core/safetensors.h"
#include "core/text.h"
#include "data/corpus.h"

namespace heed {
namespace {

SavedRun opened(const std::string& path, const std::vector<std::string>& assignments) {
  SavedRun run = SavedRun::open(path, assignments);
  check_input(!is_locked(run.folder.path()), "{}: a process is training in it; wait until it ends",
              path);
  for (const auto& [was, is] :
       changed_keys(SavedRun::open(path).config.experiment, run.config.experiment))
    throw InputError(
        fmt::format("--set {}={}: changes what is compared; --from trains the same run again: "
                    "remove it, or train {} instead",
                    is.key, shortened(is.text()), in_folder(path, run_files::config)));
  return run;
}

// Returns the name of the first array that differs; "" if none does.
std::string different_array(const SafetensorsFile& a, const SafetensorsFile& b) {
  for (const NamedArray& array : a.arrays()) {
    const NamedArray* const other = b.find(array.name);
    if (!other || other->dims != array.dims || other->dtype != array.dtype) return array.name;
    std::vector<char> first(static_cast<size_t>(array.bytes())), second(first.size());
    a.read(array, first.data());
    b.read(*other, second.data());
    if (std::memcmp(first.data(), second.data(), first.size()) != 0) return array.name;
  }
  return a.arrays().size() == b.arrays().size() ? "" : "the number of arrays";
}

using Metrics = std::map<int64_t, std::map<std::string, std::string>>;  // by step and name

// Returns the metrics without times.
Metrics metrics_of(const RunFolder& run, int64_t last_step) {
  Metrics metrics;
  for_each_row(read_metrics(run.metrics()), [&](std::string_view text, int64_t) {
    const Json row = Json::parse(text, run.metrics());
    const int64_t step = row.at("step").integer();
    if (step > last_step) return;
    for (const auto& [name, value] : row.flattened())
      if (name != "seconds" && name != "tokens_per_s" && name != "step")
        metrics[step][name] = value.text();
  });
  return metrics;
}

// Returns the first value in which two runs differ, as text; "" if there is none. Values that only
// one of them has are not compared: versions of heed may write more or fewer.
std::string different_value(const Metrics& first, const Metrics& again) {
  for (const auto& [step, values] : again) {
    const auto other = first.find(step);
    if (other == first.end()) continue;
    for (const auto& [name, value] : values) {
      const auto found = other->second.find(name);
      if (found == other->second.end() || found->second == value) continue;
      return fmt::format("step {}: {} is {}, was {}", step, name, value, found->second);
    }
  }
  return "";
}

std::string with_kernels(const std::string& kernels) {
  return fmt::format(" with kernels for {}", kernels);
}

}  // namespace

Reproduction::Reproduction(const std::string& path, const std::vector<std::string>& assignments)
    : run_(opened(path, assignments)), segments_(segments_of(run_.folder, run_.config.experiment)) {
  if (Checkpoints(run_.folder.checkpoints(), 1).newest_step() > 0) {
    checkpoint_ = run_.checkpoint("latest");
    checkpoint_->model().check_digest();
    step_ = checkpoint_->step();
    return;
  }
  const Metrics metrics = metrics_of(run_.folder, std::numeric_limits<int64_t>::max());
  check_input(!metrics.empty(), "{}: no checkpoint and no metrics to compare with", path);
  step_ = metrics.rbegin()->first;
}

void Reproduction::check_data(const Corpus& corpus) const {
  if (checkpoint_) {
    heed::check_data(*checkpoint_, corpus, run_.folder.path(), run_.config.origins);
    return;
  }
  const DataOptions& options = run_.config.experiment.data;
  check_input(recorded_data(run_.folder, options) == files_fingerprint(corpus.fingerprint, options),
              "{}: trained on other data; restore them, or name a file with the same contents with "
              "--set data.path=FILE",
              run_.folder.path());
}

std::string Reproduction::made_with() const {
  const Json sessions = sessions_of(run_.folder);
  const Json& last = sessions.elements().back();
  return in_context(run_.folder.record(), [&] {
    const Json* const kernels = last.find("kernels");
    return fmt::format("{} was made with heed {} on {}{}", run_.folder.path(),
                       last.at("heed").string(), last.at("processor").string(),
                       kernels ? with_kernels(kernels->string()) : "");
  });
}

Reproduction::Verdict Reproduction::compare(const RunFolder& again) const {
  std::string difference =
      different_value(metrics_of(run_.folder, step()), metrics_of(again, step()));
  if (checkpoint_) {
    const Checkpoint other = Checkpoints(again.checkpoints(), 1).open("latest");
    const auto file = [](const Checkpoint& checkpoint, const char* name) {
      return SafetensorsFile(in_folder(checkpoint.path(), name));
    };
    if (difference.empty() && other.step() != step())
      difference = fmt::format("it ended at step {}, not {}", other.step(), step());
    for (const char* name : {Checkpoint::model_file, Checkpoint::optimizer_file}) {
      if (!difference.empty()) break;
      const std::string array = different_array(file(*checkpoint_, name), file(other, name));
      if (!array.empty()) difference = fmt::format("step {}: {} differs", step(), array);
    }
  }
  if (difference.empty())
    return {true,
            fmt::format("the same {} up to step {}{}; {}", checkpoint_ ? "bits" : "metrics", step(),
                        checkpoint_ ? ": weights, optimizer and metrics"
                                    : ", without a checkpoint to compare weights with",
                        made_with())};
  return {false, fmt::format("not the same {}: {}; {}, this is heed {} on {}{}",
                             checkpoint_ ? "bits" : "metrics", difference, made_with(),
                             program_version, processor_name(), with_kernels(program_kernels))};
}

}  // namespace heed
