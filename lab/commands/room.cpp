#include "lab/commands/room.h"

#include "lab/inspect/measures.h"

namespace heed {

const Room lab_room{lab_commands::all, inspect_measures};

}  // namespace heed
