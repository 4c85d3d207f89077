// The commands of lab, in the order of `heed --help`.
#pragma once

#include "apps/commands/room.h"

namespace heed {

// clang-format off
#define HEED_LAB_COMMANDS(entry) \
  entry(export_run) \
  entry(sweep) \
  entry(compare) \
  entry(report) \
  entry(view) \
  entry(pack) \
  entry(inspect) \
  entry(bench) \
  entry(profile) \
  entry(claims)
// clang-format on
HEED_REGISTRY(lab_commands, Command, HEED_LAB_COMMANDS)

extern const Room lab_room;

}  // namespace heed
