// Shared by the tests of images: IDX files as bytes, compressed or not.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "support.h"

namespace heed {

// 32 bits, big-endian.
std::string big_endian(uint32_t number);
std::string idx_header(uint32_t magic, std::initializer_list<uint32_t> dims);
std::string gzipped(std::string_view bytes);

inline constexpr uint32_t labels_magic = 0x801, images_magic = 0x803, colour_magic = 0x804;

// Labels 0, 1, …, classes - 1, 0, … and as many images of height × width, all different, in the
// folder's "images" and "labels"; patches of 1, nothing held out.
struct ImageFiles {
  std::string images, labels;  // as bytes
  ImageFiles(uint32_t count, uint32_t height, uint32_t width, uint32_t classes = 3);
  DataOptions write(const TemporaryFolder& folder) const;
};

}  // namespace heed
