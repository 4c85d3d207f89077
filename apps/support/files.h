// Files and folders, written atomically (core/atomic_file.h).
//
// Writing never follows a link in the last component of a path; output_path() does, for a file that
// the user names. Reading throws InputError, because the user named the file. Writing throws Error,
// because the system failed. Errors name the path, the cause and what to do.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/atomic_file.h"

struct stat;  // of <sys/stat.h>

namespace heed {

// Returns the contents of a plain file. Throws InputError for more than `max_bytes`, and for a FIFO
// or a device, which could keep it waiting. `what` names the expected kind of file in errors:
// "config".
std::string read_file(const std::string& path, const char* what,
                      int64_t max_bytes = int64_t{1} << 30);
// Calls use(part) for its parts, in order.
void read_parts(const std::string& path, const char* what, int64_t max_bytes,
                const std::function<void(std::string_view part)>& use);

// Creates or replaces a file. Replaces a link, not its target.
void write_file(const std::string& path, std::string_view contents);

// Checks the path of an output file before a long computation. Returns the path with links
// resolved. The file need not exist. Throws InputError if write_file() would fail now, or would
// replace something that is not a plain file. Creates no file.
std::string output_path(const std::string& path);
// The same for a file of one format, whose name has one of these extensions, such as ".html", or
// none. Throws InputError for another one, which would name another format.
std::string output_path(const std::string& path, const std::vector<std::string>& extensions);

// Creates a symbolic link, or changes its target.
void point_link(const std::string& link, const std::string& target);

// Creates a folder and its missing parents, and synchronizes the new names with the disk.
void make_folders(const std::string& path);
// Creates a folder like make_folders(). Returns false if the path already exists.
bool make_new_folder(const std::string& path);
// Creates a folder like make_folders(), but not its parents: throws if they are missing.
void make_subfolder(const std::string& path);

bool exists(const std::string& path);  // links are followed
bool is_folder(const std::string& path);
// Returns the target of a symbolic link; "" if there is none.
std::string link_target(const std::string& path);

// Returns when a file was last written, in nanoseconds since 1970.
int64_t modified_at(const struct stat& file);

enum class FileKind { none, plain, folder, link, other };
FileKind kind_of(const std::string& path);  // links are not followed

// Throws InputError unless the path is of this kind, or there is nothing. Does not follow a link.
// For what is in the folder of a run or a sweep: heed reads and writes nothing outside of it.
void check_own(const std::string& path, FileKind expected);
// Returns in_folder(folder, name) after check_own(): a plain file, or nothing.
std::string own_file(const std::string& folder, const std::string& name);

// Returns the names in a folder, sorted; none if there is no such folder.
std::vector<std::string> names_in_folder(const std::string& path);

// Removes what a killed process left of writing these files: see Aside.
void remove_leftovers(const std::vector<std::string>& paths);
// The same for everything that was written in a folder.
void remove_leftovers_in(const std::string& folder);

// Removes a file, a link or a folder with its contents, if it exists.
void remove_all(const std::string& path);

// Returns folder + "/" + name.
std::string in_folder(std::string_view folder, std::string_view name);
// Returns the folder of a path, "." if it has none.
std::string folder_of(const std::string& path);
// Returns the last component of a path.
std::string name_of(const std::string& path);
// The last component without ".toml": "configs/sort.toml" → "sort".
std::string stem_of(const std::string& path);
// Returns `other` relative to the folder that `path` is in.
std::string sibling(const std::string& path, const std::string& other);
// Returns the absolute path, relative to the folder `from`, without "." and "..".
std::string absolute_path(const std::string& path, const std::string& from);

// A folder that is created atomically by commit().
class AtomicFolder : public Aside {
 public:
  // Creates aside(), to write files into.
  explicit AtomicFolder(const std::string& path);
  void commit();
};

// A file open for appending. Never writes through a link, symbolic or hard.
class AppendedFile {
 public:
  explicit AppendedFile(const std::string& path);
  void write(std::string_view text);
  void sync();  // waits until all of it is on the disk
  // If the path no longer names this file, because somebody deleted or replaced it, writes it again
  // with all that it contained. Returns whether it did.
  bool restore();

 private:
  std::string path_;
  std::optional<Descriptor> file_;
};

}  // namespace heed
