#include "apps/config/load_config.h"

#include "apps/config/named_run.h"
#include "apps/support/files.h"
#include "apps/support/log.h"
#include "apps/support/machine.h"
#include "core/parallel.h"

namespace heed {

static LoadedConfig loaded(ConfigSource source, const std::vector<std::string>& assignments,
                           const Experiment& defaults = {}, bool is_run = false) {
  for (const std::string& assignment : assignments) source.set(assignment);
  LoadedConfig config{.experiment = defaults, .origins = {}, .run_vocabulary = {}};
  config.origins = source.fill(config.experiment);
  DataOptions& data = config.experiment.data;
  if (is_run && data.kind == &data_kinds::labelled && !config.origins.contains("data.label_column"))
    data.label_column = LabelColumn::first;  // of a run from before the key
  with_origins(config.origins, [&] { config.experiment.validate(); });
  return config;
}

LoadedConfig load_config(const std::string& path, const std::vector<std::string>& assignments) {
  return loaded(ConfigSource::read(path), assignments);
}

LoadedConfig load_run_config(const std::string& path, const std::vector<std::string>& assignments) {
  LoadedConfig config = loaded(ConfigSource::read(path, false), assignments, {}, /*is_run=*/true);
  with_origins(config.origins, [&] {
    check_input(config.experiment.train.batch_size > 0,
                "`train.batch_size` = 0: a run has the number of its examples: remove it");
  });
  config.run_vocabulary = sibling(path, run_files::vocabulary);
  config.starts_command = false;
  return config;
}

LoadedConfig with_assignments(const Experiment& experiment,
                              const std::vector<std::string>& assignments) {
  return loaded(ConfigSource(), assignments, experiment);
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
