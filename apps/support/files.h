// Files that are whole or not there.
//
// What is written is written aside, brought to the disk (fsync) and then renamed: whoever looks
// sees the old file or the new one, whatever happens in between. Reading throws InputError, for the
// user named the file; writing throws Error, for the disk refused it. Both name the path, the cause
// and the way out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

// The contents of a file of at most `most_bytes`. `what` completes "… is not a": "config".
std::string read_file(const std::string& path, const char* what,
                      int64_t most_bytes = int64_t{1} << 30);

// Replaces the file, or makes it.
void write_file(const std::string& path, std::string_view contents);
// For what takes long to compute: throws InputError where write_file(path) would fail at once, or
// replace what is no file. Leaves nothing behind.
void check_writable(const std::string& path);

// Makes the symbolic link, or points the one that is there elsewhere.
void point_link(const std::string& link, const std::string& target);

// Makes the folder and those above it that are missing.
void make_folders(const std::string& path);

bool is_folder(const std::string& path);

// Names in a folder, sorted; none where there is no such folder.
std::vector<std::string> names_in_folder(const std::string& path);

// Where to write what shall then be renamed to `path`: beside it, under another name.
std::string aside_of(const std::string& path);

// Removes a file, a link or a whole folder; nothing happens where there is none.
void remove_all(const std::string& path);

// Renames, and brings the change to the disk. Both must be in the same folder.
void rename_in_folder(const std::string& from, const std::string& to);

// "dir/" + name; the folder part of a path ("." where there is none); its last part.
std::string in_folder(std::string_view folder, std::string_view name);
std::string folder_of(const std::string& path);
std::string name_of(const std::string& path);
// `other`, seen from the folder in which `path` is.
std::string sibling(const std::string& path, const std::string& other);
// Absolute, seen from the folder `from`, with no "." and ".." left where they can be resolved.
std::string absolute_path(const std::string& path, const std::string& from);

// SHA-256 as 64 hexadecimal digits (FIPS 180-4, by OpenSSL).
std::string sha256_of_file(const std::string& path);
std::string sha256(std::string_view text);

// A folder that appears whole at commit(), and not at all without it.
class AtomicFolder {
 public:
  // Files are to be written into aside(), a hidden neighbour of `path`.
  explicit AtomicFolder(const std::string& path);
  ~AtomicFolder();
  AtomicFolder(const AtomicFolder&) = delete;
  AtomicFolder& operator=(const AtomicFolder&) = delete;

  // Neighbours whose name starts so are left over from a writer that was killed.
  static constexpr const char* prefix = ".tmp-";
  const std::string& aside() const { return aside_; }
  void commit();

 private:
  std::string path_, aside_;
  bool committed_ = false;
};

}  // namespace heed
