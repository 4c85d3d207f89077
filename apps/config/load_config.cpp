#include "apps/config/load_config.h"

#include "apps/support/files.h"
#include "apps/support/log.h"
#include "apps/support/machine.h"
#include "core/parallel.h"

namespace heed {

namespace {

LoadedConfig loaded(ConfigSource source, const std::vector<std::string>& assignments) {
  for (const std::string& assignment : assignments) source.set(assignment);
  LoadedConfig config;
  config.origins = source.fill(config.experiment);
  with_origins(config.origins, [&] { config.experiment.validate(); });
  return config;
}

}  // namespace

LoadedConfig load_config(const std::string& path, const std::vector<std::string>& assignments) {
  return loaded(ConfigSource::read(path), assignments);
}

LoadedConfig load_run_config(const std::string& path, const std::vector<std::string>& assignments) {
  return loaded(ConfigSource::read(path, false), assignments);
}

Corpus load_data(const LoadedConfig& config) {
  const Experiment& e = config.experiment;
  return with_origins(config.origins, [&] {
    DataOptions data = e.data;
    for (const auto& [key, path] : data_files(data))
      check_input(exists(*path),
                  "data.{0}: there is no such file: {1}; if it has moved, name it with --set "
                  "data.{0}=FILE",
                  key, *path);
    return load_corpus(e.data, e.framing(), static_cast<uint64_t>(e.seed));
  });
}

void apply_settings(const Experiment& experiment) {
  if (experiment.threads > 0) set_thread_count(static_cast<int>(experiment.threads));
  scope().precision = experiment.precision;
  const Precision effective = effective_precision(experiment.precision);
  if (effective != experiment.precision)
    logging::warning("precision = \"{}\" is not supported by this processor; using \"{}\"",
                     precision_name(experiment.precision), precision_name(effective));
}

}  // namespace heed
