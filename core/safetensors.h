// The safetensors format: named arrays in one file.
//
//   8 bytes    length N of the header, little-endian
//   N bytes    header: a JSON object, padded with spaces so that the data start at a multiple of 8
//              {"__metadata__": {"key": "text"},
//               "name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, …}
//   the rest   the arrays, dense and row-major, back to back
//
// (Hugging Face, https://github.com/huggingface/safetensors.) The reader trusts nothing: an
// inconsistent header is an InputError, never a crash or an allocation larger than the file.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/descriptor.h"
#include "core/real.h"

namespace heed::inline HEED_REAL {

// Element types. Their names are those in a file.
enum class DType {
  BOOL,
  U8,
  I8,
  F8_E4M3,
  F8_E5M2,
  U16,
  I16,
  F16,
  BF16,
  U32,
  I32,
  F32,
  U64,
  I64,
  F64
};
const char* dtype_name(DType dtype);                      // "F32"
std::optional<DType> dtype_named(std::string_view name);  // empty for an unknown name
int64_t dtype_size(DType dtype);                          // bytes of one element

// An array in memory or in a file.
struct NamedArray {
  std::string name;            // UTF-8, not "__metadata__"; each occurs once in a file
  DType dtype = DType::F32;    // of every element
  std::vector<int64_t> dims;   // of any rank: a Shape holds at most six
  const void* data = nullptr;  // in memory: bytes() bytes, row-major
  int64_t offset = 0;          // in a file: from its start, in bytes

  // Throws Error if the size does not fit in 63 bits or a length is negative.
  int64_t bytes() const;
};
// Returns the element type and the shape for a message, cut if there are many axes: "F32 [20,
// 300]".
std::string type_text(const NamedArray& array);

using Metadata = std::map<std::string, std::string>;  // the texts of a file, by key

// Writes a file that appears whole or not at all (core/atomic_file.h). Equal arrays give equal
// bytes: arrays are sorted by element size, largest first, so that all are aligned, and then by
// name. Throws Error with the path if the disk is full or the folder is not writable, and with the
// name if an array has one that the format reserves, that is not UTF-8, or that another array has.
void write_safetensors(const std::string& path, std::vector<NamedArray> arrays,
                       const Metadata& metadata = {});

// An open file with a validated header: every array lies inside the file, its bytes match its
// shape, and no two overlap. Throws InputError with the file and the array.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::string& path) : SafetensorsFile(path, path) {}
  // Opens it with errors that begin with `context` instead of the path.
  SafetensorsFile(std::string path, const std::string& context);

  const std::string& path() const { return path_; }                  // as it was opened
  const std::vector<NamedArray>& arrays() const { return arrays_; }  // by name
  const NamedArray* find(std::string_view name) const;               // null if there is none
  const Metadata& metadata() const { return metadata_; }             // empty if it has none
  // Copies array.bytes() bytes. Throws InputError if the file has become shorter since.
  void read(const NamedArray& array, void* destination) const;

 private:
  void read_bytes(int64_t offset, int64_t bytes, void* destination,
                  const std::string& context) const;

  std::string path_;
  Descriptor file_;
  std::vector<NamedArray> arrays_;
  Metadata metadata_;
};

}  // namespace heed::inline HEED_REAL
