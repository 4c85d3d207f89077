// Reads a file from its start, and decompresses it if it is a gzip file (RFC 1952, by zlib).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

struct gzFile_s;  // of zlib

namespace heed {

class PackedFile {
 public:
  // Throws InputError for a path that is not an existing regular file, or an empty file.
  explicit PackedFile(const std::string& path);

  // Reads until `bytes` is full or the file ends. Returns the number of bytes read. Throws
  // InputError if the compressed data are damaged or cut off.
  size_t read(std::span<uint8_t> bytes);

  // An upper bound for the bytes that can be read: the file's size, or 1032 times that for a gzip
  // file, since deflate produces at most 258 bytes from a quarter of a byte.
  int64_t max_bytes() const { return max_bytes_; }
  const std::string& path() const { return path_; }

 private:
  void check_status() const;

  std::string path_;
  int64_t max_bytes_;
  std::unique_ptr<gzFile_s, int (*)(gzFile_s*)> file_;
};

}  // namespace heed
