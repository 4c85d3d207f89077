#include "lab/commands/room.h"

namespace heed {

const Room lab_room{lab_commands::all};

}  // namespace heed
