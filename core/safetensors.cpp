#include "core/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <iterator>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "core/check.h"
#include "core/safetensors_header.h"
#include "core/text.h"

namespace heed::inline HEED_REAL {
namespace {

// The limit of the reference implementation; real headers are far smaller.
constexpr int64_t longest_header = 100'000'000;

// Checks that arrays lie back to back from the start of the data to its end: no gap, no overlap.
void check_layout(std::vector<StoredArray>& arrays, int64_t data_bytes, const std::string& path) {
  std::sort(arrays.begin(), arrays.end(), [](const StoredArray& a, const StoredArray& b) {
    return std::pair(a.offset, a.bytes()) < std::pair(b.offset, b.bytes());
  });
  int64_t end = 0;
  for (const StoredArray& array : arrays) {
    check_input(array.offset == end,
                "{}: the array {} starts at byte {} of the data, where {} was expected; copy or "
                "save the file again",
                path, in_quotes(array.name, '\''), array.offset, end);
    end += array.bytes();
    check_input(end <= data_bytes,
                "{}: cut short: the array {} ends at byte {} of {}; copy or save the file again",
                path, in_quotes(array.name, '\''), end, data_bytes);
  }
  check_input(end == data_bytes, "{}: {} bytes follow the last array; copy or save the file again",
              path, data_bytes - end);
}

}  // namespace

namespace {

struct ElementType {
  DType dtype;
  const char* name;
  int64_t size;  // bytes
};
constexpr ElementType element_types[] = {
    {DType::BOOL, "BOOL", 1},       {DType::U8, "U8", 1},           {DType::I8, "I8", 1},
    {DType::F8_E4M3, "F8_E4M3", 1}, {DType::F8_E5M2, "F8_E5M2", 1}, {DType::U16, "U16", 2},
    {DType::I16, "I16", 2},         {DType::F16, "F16", 2},         {DType::BF16, "BF16", 2},
    {DType::U32, "U32", 4},         {DType::I32, "I32", 4},         {DType::F32, "F32", 4},
    {DType::U64, "U64", 8},         {DType::I64, "I64", 8},         {DType::F64, "F64", 8}};

const ElementType& element_type(DType dtype) {
  const ElementType* const found =
      std::find_if(std::begin(element_types), std::end(element_types),
                   [&](const ElementType& type) { return type.dtype == dtype; });
  check(found != std::end(element_types), "safetensors: unknown element type {}",
        static_cast<int>(dtype));
  return *found;
}

}  // namespace

const char* dtype_name(DType dtype) { return element_type(dtype).name; }
int64_t dtype_size(DType dtype) { return element_type(dtype).size; }

std::optional<DType> dtype_named(std::string_view name) {
  for (const ElementType& type : element_types)
    if (name == type.name) return type.dtype;
  return std::nullopt;
}

int64_t ArrayHeader::bytes() const {
  int64_t product = dtype_size(dtype);
  bool overflow = false;
  for (const int64_t length : dims) {
    check(length >= 0, "the array {} has an axis of length {}", in_quotes(name, '\''), length);
    if (length == 0) return 0;
    overflow = overflow || __builtin_mul_overflow(product, length, &product);
  }
  check(!overflow, "the array {} claims more than 2^63 bytes", in_quotes(name, '\''));
  return product;
}

void write_safetensors(const std::string& path, std::vector<NamedArray> arrays,
                       const Metadata& metadata) {
  std::sort(arrays.begin(), arrays.end(), [](const NamedArray& a, const NamedArray& b) {
    const int64_t x = dtype_size(a.dtype), y = dtype_size(b.dtype);
    return x != y ? x > y : a.name < b.name;
  });
  SafetensorsHeader header{{}, metadata};
  int64_t end = 0;
  for (const NamedArray& array : arrays) {
    header.arrays.push_back({array, end});
    end += array.bytes();
  }
  std::string text = safetensors_header_text(header);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  // Refuse what the reader would refuse: a duplicate name, or one that is not UTF-8.
  parse_safetensors_header(text, path);

  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file) cannot("write", path, errno);
  const auto write = [&](const void* data, int64_t bytes) {
    write_all(file, {static_cast<const char*>(data), static_cast<size_t>(bytes)}, path);
  };
  const auto length = std::ssize(text);  // hosts are little-endian, as the file
  write(&length, 8);
  write(text.data(), length);
  for (const NamedArray& array : arrays) write(array.data, array.bytes());
  if (::fsync(file) != 0 || !file.close()) cannot("write", path, errno);
}

SafetensorsFile::SafetensorsFile(std::string path, const std::string& context)
    : path_(std::move(path)),
      file_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {  // a FIFO would wait
  check_input(static_cast<bool>(file_), "{}: cannot read: {}", context, std::strerror(errno));
  struct stat status {};
  check_input(::fstat(file_, &status) == 0 && S_ISREG(status.st_mode), "{}: not a file", context);
  const int64_t size = status.st_size;
  check_input(size >= 10, "{}: {} bytes are too few for a safetensors file", context, size);
  uint64_t length = 0;
  read_bytes(0, 8, &length, context);
  check_input(length <= static_cast<uint64_t>(std::min(size - 8, longest_header)),
              "{}: not a safetensors file, or cut short: claims a header of {} bytes in a file "
              "of {}",
              context, length, size);
  std::string text(length, '\0');
  read_bytes(8, static_cast<int64_t>(length), text.data(), context);
  SafetensorsHeader header = parse_safetensors_header(text, context);
  const int64_t data_start = 8 + static_cast<int64_t>(length);
  check_layout(header.arrays, size - data_start, context);
  arrays_ = std::move(header.arrays);
  metadata_ = std::move(header.metadata);
  for (StoredArray& array : arrays_) array.offset += data_start;
  std::sort(arrays_.begin(), arrays_.end(),
            [](const StoredArray& a, const StoredArray& b) { return a.name < b.name; });
}

const StoredArray* SafetensorsFile::find(std::string_view name) const {
  const auto found = std::lower_bound(
      arrays_.begin(), arrays_.end(), name,
      [](const StoredArray& array, std::string_view key) { return array.name < key; });
  return found != arrays_.end() && found->name == name ? &*found : nullptr;
}

void SafetensorsFile::read(const StoredArray& array, void* destination) const {
  read_bytes(array.offset, array.bytes(), destination, path_);
}

void SafetensorsFile::read_bytes(int64_t offset, int64_t bytes, void* destination,
                                 const std::string& context) const {
  char* next = static_cast<char*>(destination);
  while (bytes > 0) {
    const int64_t count = std::min(bytes, int64_t{1} << 30);
    const ssize_t got = ::pread(file_, next, static_cast<size_t>(count), offset);
    if (got < 0 && errno == EINTR) continue;
    check_input(got >= 0, "{}: cannot read: {}", context, std::strerror(errno));
    check_input(got > 0, "{}: cut short: no byte {}", context, offset);
    next += got;
    offset += got;
    bytes -= got;
  }
}

}  // namespace heed::inline HEED_REAL
