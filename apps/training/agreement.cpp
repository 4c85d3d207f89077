#include "apps/training/agreement.h"

#include <fmt/format.h>

#include <utility>

#include "apps/config/config.h"
#include "apps/support/machine.h"
#include "apps/support/version.h"
#include "core/check.h"
#include "core/ranks.h"

namespace heed {

void check_agreement(const Experiment& experiment, const std::string& data,
                     const Checkpoint* checkpoint) {
  if (rank_count() == 1) return;
  Experiment compared = experiment;
  compared.threads = 0;
  const std::pair<const char*, std::string> parts[] = {
      {"program", fmt::format("{} {}", program_version, program_commit())},
      {"config", config_text(list_config(compared))},
      {"data", data},
      {"checkpoint", checkpoint ? checkpoint->digests().text() : ""}};
  for (const auto& [what, own] : parts)
    check_input(from_first_rank(own) == own,
                "{} has another {} than process 0: start all with the same", host_name(), what);
}

}  // namespace heed
