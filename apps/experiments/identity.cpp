#include "apps/experiments/identity.h"

#include <fmt/format.h>

#include "apps/config/load_config.h"
#include "apps/experiments/run_state.h"
#include "apps/support/files.h"
#include "apps/training/checkpoint.h"
#include "apps/training/loop_state.h"

namespace heed {

std::string settings_of(const ConfigListing& config) {
  return lines_of(
      config, [&](const std::string& key) { return effect_of(key, config) != KeyEffect::none; });
}

std::string identity_of(const ConfigListing& config, const std::string& fingerprint) {
  return sha256(fmt::format("{}\ndata {}\n", settings_of(config), fingerprint));
}

std::optional<std::string> identity_of(const RunFolder& run) {
  if (saved_step(run) == 0) return std::nullopt;
  const LoadedConfig config = load_run_config(run.config(), {});
  const Checkpoint checkpoint = Checkpoints(run.checkpoints(), 1).open("latest");
  return identity_of(list_config(config.experiment), checkpoint.state().at("data").string());
}

}  // namespace heed
