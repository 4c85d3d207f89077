#include "core/safetensors.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <iterator>
#include <limits>
#include <random>
#include <set>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "core/atomic_file.h"
#include "core/check.h"
#include "core/joined.h"
#include "core/text.h"

namespace heed::inline HEED_REAL {
namespace {

constexpr const char* metadata_key = "__metadata__";

struct FileHeader {
  std::vector<NamedArray> arrays;  // offsets count from the start of the data
  Metadata metadata;
};

// The header as nlohmann/json's parser reports it, part by part. Other content is skipped, however
// deep or large. The form of a header:
//
// clang-format off
//   header = { entry , … }
//   entry  = "__metadata__" : { string : string , … }
//          | string : array
//   array  = { "dtype" : string , "shape" : [ n , … ] , "data_offsets" : [ n , n ] }   in any order
// clang-format on
class HeaderReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit HeaderReader(const std::string& file) : file_(file) {}

  FileHeader header;

  bool start_object(size_t) override {
    if (depth_ >= in_entry) out_of_place("an object");
    ++depth_;
    return true;
  }
  bool key(std::string& name) override {
    std::set<std::string>& names = depth_ == in_header ? entries_ : keys_;
    if (!names.insert(name).second) fail(fmt::format("{} twice", in_quotes(name, '\'')));
    if (depth_ == in_header) {
      entry_.name = name;
      is_metadata_ = name == metadata_key;
    }
    key_ = std::move(name);
    return true;
  }
  bool end_object() override {
    if (depth_ == in_entry && !is_metadata_) add_array();
    if (depth_ == in_entry) keys_.clear();
    --depth_;
    return true;
  }

  bool string(std::string& value) override {
    if (depth_ == in_entry && is_metadata_)
      header.metadata[key_] = std::move(value);
    else if (depth_ == in_entry && key_ == "dtype")
      entry_.dtype = dtype_of(value);
    else
      out_of_place("a string");
    return true;
  }
  bool start_array(size_t) override {
    const bool is_list = key_ == "shape" || key_ == "data_offsets";
    if (depth_ != in_entry || is_metadata_ || !is_list) out_of_place("a list");
    ++depth_;
    return true;
  }
  bool number_unsigned(uint64_t value) override {
    if (depth_ != in_list) out_of_place("a number");
    if (value > std::numeric_limits<int64_t>::max()) fail("a number beyond 2^63");
    (key_ == "shape" ? entry_.dims : offsets_).push_back(static_cast<int64_t>(value));
    return true;
  }
  bool end_array() override {
    --depth_;
    return true;
  }

  bool null() override { out_of_place("null"); }
  bool boolean(bool) override { out_of_place("true or false"); }
  bool number_integer(int64_t) override { out_of_place("a negative number"); }
  bool number_float(double, const std::string&) override { out_of_place("a fraction"); }
  bool binary(binary_t&) override { return false; }
  bool parse_error(size_t position, const std::string&,
                   const nlohmann::json::exception& error) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error …"
    std::string_view problem = error.what();
    problem.remove_prefix(problem.find(": ") + 2);
    fail(fmt::format("a mistake at byte {}, {}", position + 7, shortened(problem, 200)));
  }

 private:
  enum Depth { in_file, in_header, in_entry, in_list };

  [[noreturn]] void fail(std::string_view found) const {
    throw InputError(fmt::format(
        "{}: not a sound safetensors file: its header has {}; copy or save the file again", file_,
        found));
  }
  [[noreturn]] void out_of_place(const char* what) const {
    fail(fmt::format("{} out of place {}", what,
                     key_.empty() ? "at its start" : "after the key " + in_quotes(key_, '\'')));
  }

  void add_array() {
    if (keys_ != std::set<std::string>{"dtype", "shape", "data_offsets"} || offsets_.size() != 2)
      fail(fmt::format("the array {} with other keys than dtype, shape and two data_offsets",
                       in_quotes(entry_.name, '\'')));
    entry_.offset = offsets_[0];
    check_span(entry_, offsets_[1]);
    header.arrays.push_back(std::exchange(entry_, {}));
    offsets_.clear();
  }

  // The bytes that are there must be the bytes that dtype and shape ask for.
  void check_span(const NamedArray& array, int64_t end) const {
    int64_t expected = 0;
    try {
      expected = array.bytes();
    } catch (const Error& error) {
      throw InputError(fmt::format("{}: {}", file_, error.what()));
    }
    check_input(end >= array.offset && end - array.offset == expected,
                "{}: the array {} is {}, {} bytes, but has bytes {} to {}; copy or save the file "
                "again",
                file_, in_quotes(array.name, '\''), type_text(array), expected, array.offset, end);
  }

  DType dtype_of(const std::string& word) const {
    const std::optional<DType> dtype = dtype_named(word);
    check_input(dtype.has_value(), "{}: the array {} has an unknown element type {}", file_,
                in_quotes(entry_.name, '\''), in_quotes(word, '\''));
    return *dtype;
  }

  const std::string& file_;
  int depth_ = in_file;
  std::set<std::string> entries_;  // names so far
  bool is_metadata_ = false;       // of the current entry
  std::set<std::string> keys_;     // of the current entry, so far
  std::string key_;                // the last one
  NamedArray entry_;
  std::vector<int64_t> offsets_;
};

// Throws InputError, which names `file`, for anything that is not exactly such a header.
FileHeader parsed_header(std::string_view text, const std::string& file) {
  HeaderReader reader(file);
  nlohmann::json::sax_parse(text, &reader);
  return std::move(reader.header);
}

// Without padding.
std::string header_text(const FileHeader& header) {
  std::string text = "{";
  const auto separator = [&] { return text.size() == 1 ? "" : ","; };
  if (!header.metadata.empty()) {
    std::string members;
    for (const auto& [key, value] : header.metadata)
      members += fmt::format("{}{}:{}", members.empty() ? "" : ",", string_literal(key),
                             string_literal(value));
    text += fmt::format("\"{}\":{{{}}}", metadata_key, members);
  }
  for (const NamedArray& array : header.arrays)
    text += fmt::format("{}{}:{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}}",
                        separator(), string_literal(array.name), dtype_name(array.dtype),
                        joined(array.dims, ","), array.offset, array.offset + array.bytes());
  return text += '}';
}

// The limit of the reference implementation; real headers are far smaller.
constexpr int64_t longest_header = 100'000'000;

// Throws Error for names and texts that the reader would reject.
void check_names(const std::vector<NamedArray>& arrays, const Metadata& metadata) {
  std::set<std::string_view> names;
  for (const NamedArray& array : arrays) {
    const char* const reason = array.name == metadata_key ? "the format reserves this name"
                               : find_invalid_utf8(array.name) != array.name.npos
                                   ? "the name is not UTF-8"
                               : !names.insert(array.name).second ? "two arrays have this name"
                                                                  : nullptr;
    check(!reason, "safetensors: cannot save an array as {}: {}; rename it",
          in_quotes(array.name, '\''), reason ? reason : "");
  }
  for (const auto& [key, text] : metadata)
    for (const std::string& each : {key, text})
      check(find_invalid_utf8(each) == each.npos,
            "safetensors: cannot save the metadata {}: {} is not UTF-8", in_quotes(key, '\''),
            in_quotes(each, '\''));
}

// Checks that arrays lie back to back from the start of the data to its end: no gap, no overlap.
void check_layout(std::vector<NamedArray>& arrays, int64_t data_bytes, const std::string& path) {
  std::sort(arrays.begin(), arrays.end(), [](const NamedArray& a, const NamedArray& b) {
    return std::pair(a.offset, a.bytes()) < std::pair(b.offset, b.bytes());
  });
  int64_t end = 0;
  for (const NamedArray& array : arrays) {
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

int64_t NamedArray::bytes() const {
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

std::string type_text(const NamedArray& array) {
  return fmt::format("{} [{}]", dtype_name(array.dtype), shortened(joined(array.dims)));
}

void write_safetensors(const std::string& path, std::vector<NamedArray> arrays,
                       const Metadata& metadata) {
  std::sort(arrays.begin(), arrays.end(), [](const NamedArray& a, const NamedArray& b) {
    const int64_t x = dtype_size(a.dtype), y = dtype_size(b.dtype);
    return x != y ? x > y : a.name < b.name;
  });
  check_names(arrays, metadata);
  FileHeader header{{}, metadata};
  int64_t end = 0;
  for (const NamedArray& array : arrays) {
    header.arrays.push_back(array);
    header.arrays.back().offset = end;
    end += array.bytes();
  }
  std::string text = header_text(header);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  check(std::ssize(text) <= longest_header,
        "{}: cannot write: a header of {} bytes, at most {} are possible; save fewer arrays", path,
        text.size(), longest_header);

  AtomicFile file(path, fmt::format("-{:08x}", std::random_device()()));
  const auto write = [&](const void* data, int64_t bytes) {
    file.write({static_cast<const char*>(data), static_cast<size_t>(bytes)});
  };
  const auto length = std::ssize(text);  // hosts are little-endian, as the file
  write(&length, 8);
  write(text.data(), length);
  for (const NamedArray& array : arrays) write(array.data, array.bytes());
  file.commit();
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
  FileHeader header = parsed_header(text, context);
  const int64_t data_start = 8 + static_cast<int64_t>(length);
  check_layout(header.arrays, size - data_start, context);
  arrays_ = std::move(header.arrays);
  metadata_ = std::move(header.metadata);
  for (NamedArray& array : arrays_) array.offset += data_start;
  std::sort(arrays_.begin(), arrays_.end(),
            [](const NamedArray& a, const NamedArray& b) { return a.name < b.name; });
}

const NamedArray* SafetensorsFile::find(std::string_view name) const {
  const auto found = std::lower_bound(
      arrays_.begin(), arrays_.end(), name,
      [](const NamedArray& array, std::string_view key) { return array.name < key; });
  return found != arrays_.end() && found->name == name ? &*found : nullptr;
}

void SafetensorsFile::read(const NamedArray& array, void* destination) const {
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
