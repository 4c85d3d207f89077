// What a process arranges with its children.
#pragma once

#include "core/descriptor.h"

namespace heed {

struct ProcessPipe {
  Descriptor reading, writing;
};

// Makes a pipe whose ends a program that exec() starts does not get. Throws Error with `purpose`,
// such as "cannot start a run", if the system refuses.
ProcessPipe make_pipe(const char* purpose);

// In a child process, after fork(): asks the system to send it this signal when its parent ends.
// Only Linux can; elsewhere the children of a process that is killed go on.
void end_with_parent(int signal);
// In a child process, after fork(): lets the program that exec() starts have its memory at the same
// addresses each time. Only on Linux. Older address sanitizers fail where much is randomized.
void fix_addresses();

}  // namespace heed
