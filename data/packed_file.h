// A file read from its start, and unpacked on the way if gzip packed it (RFC 1952, by zlib).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace heed {

class PackedFile {
 public:
  // Throws InputError for a file that is missing, a folder or otherwise not a regular file, empty,
  // or cannot be opened.
  explicit PackedFile(const std::string& path);

  // Reads on until `bytes` is full or the file ends, and returns how many there were. Throws
  // InputError where what is packed is damaged or cut off.
  size_t read(std::span<uint8_t> bytes);

  // The most bytes that can be read in all, whatever they are: the file's size, or of a packed one
  // 1032 times as many, since deflate writes no more than 258 bytes for a quarter of a byte.
  int64_t most_bytes() const { return most_bytes_; }
  const std::string& path() const { return path_; }

 private:
  struct Close {
    void operator()(void* file) const;
  };

  void check_status() const;

  std::string path_;
  std::unique_ptr<void, Close> file_;  // zlib's gzFile
  int64_t most_bytes_;
};

}  // namespace heed
