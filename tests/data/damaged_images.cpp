// Damaged IDX files: loading throws an InputError that names the file.

#include "core/random.h"
#include "data/batch.h"
#include "idx_writer.h"

namespace heed {

namespace {

// Check the error for these images with valid labels, or for these labels with valid images.
void check_images(const std::string& bytes, const std::string& part) {
  const TemporaryFolder folder;
  ImageFiles files(4, 2, 2);
  files.images = bytes;
  const DataOptions options = files.write(folder);
  const std::string message = input_error([&] { load_corpus(options, ModelKind::classifier, 1); });
  CHECK_CONTAINS(message, options.path);
  CHECK_CONTAINS(message, part);
  CHECK(message.find('\n') == message.npos);
}

void check_labels(const std::string& bytes, const std::string& part) {
  const TemporaryFolder folder;
  ImageFiles files(4, 2, 2);
  files.labels = bytes;
  const DataOptions options = files.write(folder);
  const std::string message = input_error([&] { load_corpus(options, ModelKind::classifier, 1); });
  CHECK_CONTAINS(message, options.target_path);
  CHECK_CONTAINS(message, part);
}

const std::string sixteen(16, 'x');
const std::string good = idx_header(images_magic, {4, 2, 2}) + sixteen;

}  // namespace

TEST_CASE("missing files, folders and empty files are rejected") {
  const TemporaryFolder folder;
  DataOptions options = ImageFiles(4, 2, 2).write(folder);
  const auto rejected = [&] {
    return input_error([&] { load_corpus(options, ModelKind::classifier, 1); });
  };
  options.path = folder / "missing";
  CHECK_CONTAINS(rejected(), "missing: there is no such file");
  options.path = folder / ".";
  CHECK_CONTAINS(rejected(), "is a folder");
  check_images("", "is empty");
  check_labels("", "is empty");
}

TEST_CASE("a file that is cut off at any byte is rejected") {
  for (size_t length = 1; length < 16; ++length)
    check_images(good.substr(0, length), "within the header of an IDX file");
  for (size_t length = 16; length < good.size(); ++length)
    check_images(good.substr(0, length), "promises 4 × 2 × 2 bytes");
  const std::string compressed = gzipped(good);
  for (size_t length = 2; length < compressed.size(); ++length)
    check_images(compressed.substr(0, length), "is cut off");
  check_images(gzipped(good.substr(0, 30)), "promises 4 × 2 × 2 bytes, and there are 14");
  check_images(gzipped(good.substr(0, 10)), "ends after 8 bytes");
  check_images(gzipped(""), "ends after 0 bytes");
}

TEST_CASE("a file longer than its header says is rejected") {
  check_images(good + "x", "holds more than the 4 × 2 × 2 bytes");
  check_images(gzipped(good + "x"), "holds more than the 4 × 2 × 2 bytes");
  check_labels(idx_header(labels_magic, {4}) + "\1\2\1\2\1", "holds more than");
}

TEST_CASE("files of another format are rejected") {
  check_images("PK\3\4 this is a zip file",
               "begins with 0x504b0304, and files of images begin with 0x00000803");
  check_images(idx_header(0xD03, {4, 2, 2}) + sixteen, "is not an IDX file of bytes");  // floats
  check_images(idx_header(0x805, {1, 1, 4, 2, 2}) + sixteen, "is not an IDX file of bytes");
  check_images(idx_header(0x800, {}) + sixteen, "is not an IDX file of bytes");
  check_images(idx_header(0x802, {8, 2}) + sixteen, "an array of 2 dimensions: images have 3");
  check_images(idx_header(labels_magic, {16}) + sixteen, "holds labels, not images");
  check_labels(good, "holds images, not labels");
  check_labels("0\n1\n0\n1\n", "files of labels begin with 0x00000801");
  std::string damaged = gzipped(good);
  damaged[damaged.size() - 6] ^= 1;  // in the checksum
  check_images(damaged, "is damaged");
  damaged = gzipped(good);
  damaged[2] = 7;  // an unknown compression method
  check_images(damaged, "is damaged");
}

TEST_CASE("counts that differ or are zero are rejected") {
  check_labels(idx_header(labels_magic, {3}) + "\1\2\1", "holds 3 labels");
  check_labels(idx_header(labels_magic, {0}), "holds nothing");
  check_images(idx_header(images_magic, {0, 28, 28}), "holds nothing: its header says 0 × 28 × 28");
  check_images(idx_header(images_magic, {4, 0, 2}), "holds nothing");
  check_images(idx_header(images_magic, {4, 2, 0}), "holds nothing");
}

TEST_CASE("a header cannot make the reader allocate memory for missing data") {
  constexpr uint32_t most = 0xFFFFFFFF;
  check_images(idx_header(images_magic, {most, most, most}) + sixteen, "the limit is 2 GiB");
  check_images(idx_header(colour_magic, {most, most, most, most}) + sixteen, "the limit is 2 GiB");
  // Numbers of elements that overflow 32 and 64 bits.
  check_images(idx_header(images_magic, {1U << 31, 2, 1}) + sixteen, "the limit is 2 GiB");
  check_images(idx_header(colour_magic, {1U << 31, 1U << 31, 4, 4}), "the limit is 2 GiB");
  check_images(idx_header(images_magic, {1U << 31, 1, 1}) + sixteen,
               "more than the 16 that a file");
  check_images(gzipped(idx_header(images_magic, {1U << 31, 1, 1}) + sixteen),
               "that a file of this size can hold");
  check_labels(gzipped(idx_header(labels_magic, {1U << 31}) + sixteen),
               "that a file of this size can hold");
}

TEST_CASE("a small file that decompresses to a large one is read no further than its header says") {
  const std::string bomb = good + std::string(100'000'000, '\0');
  check_images(gzipped(bomb), "holds more than");
  // Zeros have almost the highest compression ratio: the limit does not reject them.
  const TemporaryFolder folder;
  ImageFiles files(2, 1, 1);
  files.images = gzipped(idx_header(images_magic, {2, 1024, 1024}) + std::string(2 << 20, '\0'));
  CHECK(files.images.size() < (2 << 20) / 1000);
  CHECK(split(load_corpus(files.write(folder), ModelKind::classifier, 1), "train").size == 2);
  files.images =
      gzipped(idx_header(images_magic, {2, 1024, 1025}) + std::string(2 * 1024 * 1025, '\0'));
  const DataOptions options = files.write(folder);
  CHECK_CONTAINS(input_error([&] { load_corpus(options, ModelKind::classifier, 1); }),
                 "an image of 1024 × 1025 × 1 is too large");
}

// Changes, drops, repeats or adds bytes, most of them near the start, where the header is.
static std::string mutated(std::string bytes, Random& random) {
  for (uint64_t n = random.below(4); n > 0 && !bytes.empty(); --n) {
    const size_t position =
        random.below(random.below(2) ? bytes.size() : std::min<size_t>(bytes.size(), 20));
    const auto value = static_cast<char>(random.below(random.below(2) ? 256 : 5));
    switch (random.below(4)) {
      case 0:
        bytes[position] = value;
        break;
      case 1:
        bytes.resize(position);
        break;
      case 2:
        bytes.insert(position, 1, value);
        break;
      default:
        bytes += bytes.substr(position);
    }
  }
  return bytes;
}

TEST_CASE("images: random damage gives a corpus or an InputError") {
  const TemporaryFolder folder;
  Random random(4, Purpose::test);
  int loaded = 0, rejected = 0;
  for (int round = 0; round < 3000; ++round) {
    ImageFiles files(12, 4, 2);
    for (std::string* bytes : {&files.images, &files.labels}) {
      const bool compressed = random.below(2), before = random.below(2);
      if (before) *bytes = mutated(*bytes, random);
      if (compressed) *bytes = gzipped(*bytes);
      if (!before && random.below(2)) *bytes = mutated(*bytes, random);
    }
    DataOptions options = files.write(folder);
    options.patch = 1 + static_cast<int64_t>(random.below(2));
    options.val_fraction = random.below(2) ? 0.3 : 0;
    try {
      const Corpus corpus = load_corpus(options, ModelKind::classifier, 1);
      ++loaded;
      for (const auto& [name, dataset] : corpus.splits) {
        Batches batches = Batches::in_order(dataset, ModelKind::classifier, 5);
        Batch batch;
        for (int64_t position = 0; position < batches.count(); ++position) {
          batches.get(position, batch);
          REQUIRE(batch.features.dim(1) == corpus.longest_input);
          REQUIRE(batch.features.dim(2) == corpus.format.features);
          for (int64_t i = 0; i < batch.target.size(); ++i)
            REQUIRE(batch.target[i] < static_cast<int32_t>(corpus.labels.size()));
        }
      }
    } catch (const InputError& error) {
      ++rejected;
      const std::string_view message = error.what();
      REQUIRE((message.find(options.path) != message.npos ||
               message.find(options.target_path) != message.npos));
      REQUIRE(message.find('\n') == message.npos);
    }
  }
  CHECK(loaded > 300);
  CHECK(rejected > 500);
}

}  // namespace heed
