#include "data/packed_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <zlib.h>

#include "core/check.h"
#include "data/files.h"

namespace heed {

namespace {

gzFile handle(void* file) { return static_cast<gzFile>(file); }

}  // namespace

void PackedFile::Close::operator()(void* file) const { gzclose(handle(file)); }

PackedFile::PackedFile(const std::string& path) : path_(path), most_bytes_(file_size(path)) {
  constexpr int64_t most_expansion = 1032, most_size = int64_t{1} << 40;  // no overflow
  constexpr unsigned buffer_size = 1U << 17;
  check_input(most_bytes_ > 0, "{} is empty", path);
  file_.reset(gzopen(path.c_str(), "rb"));
  check_input(file_ != nullptr, "{} cannot be read: {}", path, std::strerror(errno));
  gzbuffer(handle(file_.get()), buffer_size);
  const bool is_packed = gzdirect(handle(file_.get())) == 0;
  if (is_packed) most_bytes_ = std::min(most_bytes_, most_size) * most_expansion;
}

size_t PackedFile::read(std::span<uint8_t> bytes) {
  constexpr size_t most_at_once = 1U << 30;  // gzread() counts in int
  size_t count = 0;
  while (count < bytes.size()) {
    const size_t wanted = std::min(bytes.size() - count, most_at_once);
    const int got =
        gzread(handle(file_.get()), bytes.data() + count, static_cast<unsigned>(wanted));
    if (got > 0) count += static_cast<size_t>(got);
    if (got == static_cast<int>(wanted)) continue;
    check_status();
    break;
  }
  return count;
}

// A file that is cut off or damaged ends like one that is whole; only the status tells.
void PackedFile::check_status() const {
  int status = Z_OK;
  std::string_view message = gzerror(handle(file_.get()), &status);
  if (message.starts_with(path_ + ": ")) message.remove_prefix(path_.size() + 2);
  check_input(status != Z_BUF_ERROR, "{} is cut off: what gzip packed does not end; fetch it again",
              path_);
  check_input(status != Z_ERRNO, "{} cannot be read: {}", path_, message);
  check_input(status == Z_OK || status == Z_STREAM_END,
              "{} is damaged: it begins like a file of gzip and cannot be unpacked ({}); fetch it "
              "again",
              path_, message);
}

}  // namespace heed
