// IDX, the file format of MNIST (http://yann.lecun.com/exdb/mnist): an array of bytes behind its
// shape, packed by gzip or not.
//
//   00 00 08 R           magic: the elements are unsigned bytes (08), the array has R dimensions
//   R numbers            its dimensions, 32 bits each, big end first
//   the elements         row-major
//
// Labels are one dimension (magic 0x00000801), the label of every example. Images are three (magic
// 0x00000803), examples × height × width, or, in colour, four with the channels last.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/packed_file.h"

namespace heed {

enum class IdxContent { labels, images };

class IdxFile {
 public:
  // Reads the header alone. Throws InputError for a file that PackedFile refuses, that is no IDX
  // file, holds something else, is cut off in its header, has a dimension of 0, promises more than
  // 2 GiB, or more than a file of its size can hold.
  IdxFile(const std::string& path, IdxContent content);

  const std::string& path() const { return file_.path(); }
  const std::vector<int64_t>& dims() const { return dims_; }
  const std::string& header() const { return header_; }  // as it stands in the file

  // The elements; to be called once. Memory grows with what is there, not with what is promised.
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
