// Defines packed_file.h for a build without zlib: reads files that are not compressed.
#include "data/packed_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include "core/check.h"
#include "data/files.h"

struct gzFile_s {  // in zlib's place
  std::ifstream in;
};

namespace heed {

PackedFile::PackedFile(const std::string& path)
    : path_(path), max_bytes_(file_size(path)), file_(new gzFile_s, [](gzFile_s* file) {
        delete file;
        return 0;
      }) {
  check_input(max_bytes_ > 0, "{} is empty", path);
  file_->in.open(path, std::ios::binary);
  check_input(file_->in.is_open(), "{} cannot be read: {}", path, std::strerror(errno));
  const bool is_packed = file_->in.get() == 0x1F && file_->in.get() == 0x8B;
  check_input(!is_packed,
              "{} is a gzip file, and this build of heed has no zlib (in Debian zlib1g-dev): "
              "decompress the file with gunzip, or install zlib and build heed again",
              path);
  file_->in.clear();  // a file of one byte has ended
  file_->in.seekg(0);
}

size_t PackedFile::read(std::span<uint8_t> bytes) {
  file_->in.read(reinterpret_cast<char*>(bytes.data()), std::ssize(bytes));
  check_input(!file_->in.bad(), "{} cannot be read to its end", path_);
  return static_cast<size_t>(file_->in.gcount());
}

}  // namespace heed
