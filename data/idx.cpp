#include "data/idx.h"

#include <algorithm>
#include <array>

#include "core/check.h"
#include "core/joined.h"

namespace heed {

constexpr int64_t max_elements = int64_t{1} << 31;
constexpr uint32_t unsigned_bytes = 0x00000800;  // magic number without its last byte
constexpr size_t max_rank = 4;

static const char* name_of(IdxContent content) {
  return content == IdxContent::labels ? "labels" : "images";
}

// Returns whether an array of this rank can hold labels or images.
static bool holds(size_t rank, IdxContent content) {
  return content == IdxContent::labels ? rank == 1 : rank == 3 || rank == 4;
}

IdxFile::IdxFile(const std::string& path, IdxContent content) : file_(path) { read_magic(content); }

uint32_t IdxFile::read_number() {
  std::array<uint8_t, 4> bytes{};
  check_input(file_.read(bytes) == bytes.size(),
              "{} ends after {} bytes, within the header of an IDX file: download it again", path(),
              header_.size());
  header_.append(bytes.begin(), bytes.end());
  uint32_t number = 0;
  for (const uint8_t byte : bytes) number = number << 8 | byte;
  return number;
}

void IdxFile::read_magic(IdxContent content) {
  const uint32_t magic = read_number(), rank = magic & 0xFF;
  check_input(
      (magic & 0xFFFFFF00) == unsigned_bytes && 1 <= rank && rank <= max_rank,
      "{} is not an IDX file of bytes, compressed or not: it begins with 0x{:08x}, and files of "
      "{} begin with {}",
      path(), magic, name_of(content), content == IdxContent::labels ? "0x00000801" : "0x00000803");
  const IdxContent other = content == IdxContent::labels ? IdxContent::images : IdxContent::labels;
  check_input(!holds(rank, other),
              "{} holds {}, not {}: path names the images, target_path the labels", path(),
              name_of(other), name_of(content));
  check_input(holds(rank, content), "{} holds an array of {} dimensions: {} have {}", path(), rank,
              name_of(content), content == IdxContent::labels ? "1" : "3, or 4 in colour");
  read_dims(rank);
}

void IdxFile::read_dims(size_t rank) {
  for (size_t i = 0; i < rank; ++i) dims_.push_back(read_number());
  for (const int64_t dim : dims_) {
    check_input(dim > 0, "{} holds nothing: its header says {}", path(), joined(dims_, " × "));
    check_input(dim <= max_elements / size_,
                "{}: its header promises {} bytes, and the limit is 2 GiB: split the file, or "
                "download it again if it should be smaller",
                path(), joined(dims_, " × "));
    size_ *= dim;
  }
  const int64_t limit = file_.max_bytes() - static_cast<int64_t>(header_.size());
  check_input(
      size_ <= limit,
      "{}: its header promises {} bytes, more than the {} that a file of this size can hold: "
      "download it again",
      path(), joined(dims_, " × "), limit);
}

std::vector<uint8_t> IdxFile::read() {
  constexpr size_t first_part = 1U << 20;
  const auto size = static_cast<size_t>(size_);
  std::vector<uint8_t> elements;
  while (elements.size() < size) {
    const size_t begin = elements.size();
    const size_t end = std::min(size, std::max(first_part, 2 * begin));
    elements.reserve(end);  // resize() would allocate more
    elements.resize(end);
    const size_t count = file_.read(std::span(elements).subspan(begin));
    check_input(begin + count == elements.size(),
                "{}: its header promises {} bytes, and there are {}: download it again", path(),
                joined(dims_, " × "), begin + count);
  }
  std::array<uint8_t, 1> behind{};
  check_input(file_.read(behind) == 0,
              "{} holds more than the {} bytes that its header promises: download it again", path(),
              joined(dims_, " × "));
  return elements;
}

}  // namespace heed
