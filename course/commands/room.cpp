#include "course/commands/room.h"

namespace heed {

const Room course_room{course_commands::all};

}  // namespace heed
