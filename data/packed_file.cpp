#include "data/packed_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <zlib.h>

#include "core/check.h"
#include "data/files.h"

namespace heed {

PackedFile::PackedFile(const std::string& path)
    : path_(path), max_bytes_(file_size(path)), file_(nullptr, gzclose) {
  constexpr int64_t max_expansion = 1032, max_size = int64_t{1} << 40;  // no overflow
  constexpr unsigned buffer_size = 1U << 17;
  check_input(max_bytes_ > 0, "{} is empty", path);
  file_.reset(gzopen(path.c_str(), "rb"));
  check_input(file_ != nullptr, "{} cannot be read: {}", path, std::strerror(errno));
  gzbuffer(file_.get(), buffer_size);
  const bool is_packed = gzdirect(file_.get()) == 0;
  if (is_packed) max_bytes_ = std::min(max_bytes_, max_size) * max_expansion;
}

size_t PackedFile::read(std::span<uint8_t> bytes) {
  constexpr size_t max_at_once = 1U << 30;  // gzread() counts in int
  size_t count = 0;
  while (count < bytes.size()) {
    const size_t part = std::min(bytes.size() - count, max_at_once);
    const int read = gzread(file_.get(), bytes.data() + count, static_cast<unsigned>(part));
    if (read > 0) count += static_cast<size_t>(read);
    if (read == static_cast<int>(part)) continue;
    check_status();
    break;
  }
  return count;
}

// A file that is cut off or damaged ends like a complete one. Only the status differs.
void PackedFile::check_status() const {
  int status = Z_OK;
  std::string_view message = gzerror(file_.get(), &status);
  if (message.starts_with(path_ + ": ")) message.remove_prefix(path_.size() + 2);
  check_input(status != Z_BUF_ERROR, "{} is cut off: the gzip data do not end; download it again",
              path_);
  check_input(status != Z_ERRNO, "{} cannot be read: {}", path_, message);
  check_input(
      status == Z_OK || status == Z_STREAM_END,
      "{} is damaged: it begins like a gzip file and cannot be decompressed ({}); download it "
      "again",
      path_, message);
}

}  // namespace heed
