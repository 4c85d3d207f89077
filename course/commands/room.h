// The commands of the course.
#pragma once

#include "apps/commands/room.h"

namespace heed {

#define HEED_COURSE_COMMANDS(entry) entry(course)
HEED_REGISTRY(course_commands, Command, HEED_COURSE_COMMANDS)

extern const Room course_room;

}  // namespace heed
