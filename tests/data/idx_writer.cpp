#include "idx_writer.h"

#include <zlib.h>

#include "core/random.h"

namespace heed {

std::string big_endian(uint32_t number) {
  std::string bytes;
  for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(number >> shift & 0xFF);
  return bytes;
}

std::string idx_header(uint32_t magic, std::initializer_list<uint32_t> dims) {
  std::string bytes = big_endian(magic);
  for (const uint32_t dim : dims) bytes += big_endian(dim);
  return bytes;
}

std::string gzipped(std::string_view bytes) {
  constexpr int gzip_format = 15 + 16;
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 9, Z_DEFLATED, gzip_format, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string compressed(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(compressed.data());
  stream.avail_out = static_cast<uInt>(compressed.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  compressed.resize(stream.total_out);
  deflateEnd(&stream);
  return compressed;
}

ImageFiles::ImageFiles(uint32_t count, uint32_t height, uint32_t width, uint32_t classes)
    : images(idx_header(images_magic, {count, height, width})),
      labels(idx_header(labels_magic, {count})) {
  Random random(1, Purpose::test);
  for (uint32_t i = 0; i < count; ++i) {
    labels += static_cast<char>(i % classes);
    for (uint32_t pixel = 0; pixel < height * width; ++pixel)
      images += static_cast<char>(random.below(256));
  }
}

DataOptions ImageFiles::write(const TemporaryFolder& folder) const {
  DataOptions options = file_options(&data_kinds::images, folder.write("images", images));
  options.target_path = folder.write("labels", labels);
  options.patch = 1;
  options.val_fraction = options.test_fraction = 0;
  return options;
}

}  // namespace heed
