// Locks for writing on whole files, each held by one process at a time.
//
// A lock belongs to the open file: the system releases it when the file is closed, and so when the
// process ends. On Linux it holds between machines that share a folder by NFS (fcntl(2), "open file
// description locks"). On other systems it holds on one machine (flock(2)).
#pragma once

#include <string>

namespace heed {

// Locks an open file. Returns false with errno EAGAIN or EACCES if another process holds it, and
// with another errno if the system refuses.
bool try_lock(int file);
// Waits until no other process holds it, and locks it. Returns false with an errno if the system
// refuses.
bool wait_for_lock(int file);
// Whether another process holds it. Takes it for a moment where the system cannot be asked (not on
// Linux).
bool is_locked_elsewhere(int file);

// Waits until no other process holds the folder by this function, and holds it until the returned
// file is closed. Returns -1 if there is no such folder.
int lock_folder(const std::string& path);

}  // namespace heed
