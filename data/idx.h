// IDX, the file format of MNIST (http://yann.lecun.com/exdb/mnist): the shape of an array, then its
// bytes. The file may be compressed by gzip.
//
//   00 00 08 R           magic number: elements are unsigned bytes (08), the array has rank R
//   R numbers            its dimensions, 32 bits each, big-endian
//   the elements         row-major
//
// Labels have one dimension (magic 0x00000801): the label of every example. Images have three
// (magic 0x00000803), examples × height × width, or, in colour, four with the channels last.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/packed_file.h"

namespace heed {

enum class IdxContent { labels, images };

class IdxFile {
 public:
  // Reads only the header. Throws InputError for a file that PackedFile rejects, that is not an IDX
  // file of this content, is cut off in its header, or has a dimension of 0, and for a header that
  // promises more than 2 GiB or more than a file of this size can hold.
  IdxFile(const std::string& path, IdxContent content);

  const std::string& path() const { return file_.path(); }
  const std::vector<int64_t>& dims() const { return dims_; }
  const std::string& header() const { return header_; }  // its bytes in the file

  // Reads the elements. Call it once. Allocates memory as it reads, not as the header promises.
  // Throws InputError for more or fewer elements than the header promises.
  std::vector<uint8_t> read();

 private:
  void read_magic(IdxContent content);
  void read_dims(size_t rank);
  uint32_t read_number();

  PackedFile file_;
  std::string header_;
  std::vector<int64_t> dims_;
  int64_t size_ = 1;  // elements
};

}  // namespace heed
