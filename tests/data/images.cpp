// Images from IDX files: patches, labels, splits, batches.
#include <set>

#include "allocations.h"
#include "data/batch.h"
#include "idx_writer.h"

namespace heed {

namespace {

// The bytes of an example's vectors.
std::vector<int> bytes_of(const Example& example) {
  std::vector<int> bytes;
  for (const float feature : example.features) {
    REQUIRE(0 <= feature);
    REQUIRE(feature <= 1);
    bytes.push_back(static_cast<int>(feature * 255 + 0.5F));
  }
  return bytes;
}

// An image of the bytes 0, 1, 2, … and one of the bytes 100, 101, …
DataOptions counting(const TemporaryFolder& folder, const std::string& header, char size) {
  std::string images = header;
  for (char pixel = 0; pixel < size; ++pixel) images += pixel;
  for (char pixel = 0; pixel < size; ++pixel) images += static_cast<char>(pixel + 100);
  ImageFiles files(2, 1, 1);
  files.images = images;
  return files.write(folder);
}

}  // namespace

TEST_CASE("an image is cut into patches, row by row, and its bytes become features in [0, 1]") {
  const TemporaryFolder folder;
  DataOptions options = counting(folder, idx_header(images_magic, {2, 4, 6}), 24);
  options.patch = 2;
  const Corpus corpus = load(options);
  CHECK(corpus.grid == std::vector<int64_t>{2, 3});
  CHECK(corpus.format.features == 4);
  CHECK(corpus.longest_input == 6);
  CHECK_FALSE(corpus.format.has_edges);
  CHECK(corpus.source == nullptr);
  CHECK(corpus.target == nullptr);
  const Dataset& train = split(corpus, "train");
  CHECK(train.size == 2);
  CHECK(corpus.format.features == 4);
  std::vector<int> expected = {0,  1,  6,  7,  2,  3,  8,  9,  4,  5,  10, 11,
                               12, 13, 18, 19, 14, 15, 20, 21, 16, 17, 22, 23};
  CHECK(bytes_of(example_of(train, 0)) == expected);
  CHECK(example_of(train, 0).features[23] == 23.0F / 255.0F);
  for (int& byte : expected) byte += 100;
  CHECK(bytes_of(example_of(train, 1)) == expected);
  CHECK(example_of(train, 1).target == std::vector<int32_t>{1});
}

TEST_CASE("the fourth dimension is colour: the channels of a pixel are adjacent features") {
  const TemporaryFolder folder;
  DataOptions options = counting(folder, idx_header(colour_magic, {2, 2, 2, 3}), 12);
  const Corpus pixels = load(options);
  CHECK(pixels.format.features == 3);
  CHECK(pixels.grid == std::vector<int64_t>{2, 2});
  CHECK(bytes_of(example_of(split(pixels, "train"), 0)) ==
        std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  options.patch = 2;
  CHECK(load(options).format.features == 12);
}

TEST_CASE("bytes 0 to 255 become features 0 to 1") {
  const TemporaryFolder folder;
  ImageFiles files(2, 16, 16);
  for (size_t i = 0; i < 256; ++i) files.images[16 + i] = static_cast<char>(i);
  const Example example = example_of(split(load(files.write(folder)), "train"), 0);
  CHECK(example.features.front() == 0.0F);
  CHECK(example.features.back() == 1.0F);
  const std::vector<int> bytes = bytes_of(example);
  for (int i = 0; i < 256; ++i) CHECK(bytes[static_cast<size_t>(i)] == i);
}

TEST_CASE("compressed files give the same corpus and fingerprint") {
  const TemporaryFolder folder;
  const ImageFiles files(40, 3, 5);
  DataOptions options = files.write(folder);
  const Corpus plain = load(options);
  // Two concatenated gzip members are one file (RFC 1952, section 2.2).
  options.path = folder.write(
      "images.gz", gzipped(files.images.substr(0, 100)) + gzipped(files.images.substr(100)));
  options.target_path = folder.write("labels.gz", gzipped(files.labels));
  const Corpus compressed = load(options);
  CHECK(compressed.fingerprint == plain.fingerprint);
  CHECK(compressed.files == std::vector<std::string>{options.path, options.target_path});
  for (int64_t i = 0; i < 40; ++i) {
    const Example one = example_of(split(plain, "train"), i);
    const Example other = example_of(split(compressed, "train"), i);
    CHECK(one.features == other.features);
    CHECK(one.target == other.target);
  }
}

TEST_CASE("the fingerprint changes with a pixel, a label, the shape, the patch, the names") {
  const TemporaryFolder folder;
  std::set<std::string> fingerprints;
  const auto add_fingerprint = [&](const DataOptions& options) {
    fingerprints.insert(load(options).fingerprint);
  };
  ImageFiles files(6, 4, 2);
  add_fingerprint(files.write(folder));
  files.images.back() ^= 1;
  add_fingerprint(files.write(folder));
  files.labels.back() = 0;
  add_fingerprint(files.write(folder));
  files.images.replace(0, 16, idx_header(images_magic, {6, 2, 4}));
  DataOptions options = files.write(folder);
  add_fingerprint(options);
  options.patch = 2;
  add_fingerprint(options);
  options.label_names = {"shoe", "shirt", "bag"};
  add_fingerprint(options);
  CHECK(fingerprints.size() == 6);
}

TEST_CASE("labels have the names of the config, or the numbers up to the largest in training") {
  const TemporaryFolder folder;
  DataOptions options = ImageFiles(9, 2, 2, 4).write(folder);
  CHECK(load(options).labels == std::vector<std::string>{"0", "1", "2", "3"});
  options.label_names = {"a", "b", "c", "d", "never seen"};
  const Corpus corpus = load(options);
  CHECK(corpus.labels == options.label_names);
  CHECK(example_of(split(corpus, "train"), 6).target == std::vector<int32_t>{2});
  options.label_names = {"a", "b", "c"};
  const std::string unnamed = input_error([&] { load(options); });
  CHECK_CONTAINS(unnamed, options.target_path);
  CHECK_CONTAINS(unnamed, "label 3 of example 3 (from 0) is unknown: `label_names`");
  options.label_names = {"a"};
  CHECK_CONTAINS(input_error([&] { load(options); }), "`label_names` has one name");
  options.label_names.assign(257, "a");
  CHECK_CONTAINS(input_error([&] { load(options); }), "`label_names` has 257 names");
  options.label_names = {"a", "", "c", "d"};
  CHECK_CONTAINS(input_error([&] { load(options); }), "the name of label 1 is empty");
  options.label_names = {"a", "b", "c", "b"};
  CHECK_CONTAINS(input_error([&] { load(options); }), "labels 1 and 3 are both named \"b\"");
}

TEST_CASE("labels that training does not have, or a single label, are rejected") {
  const TemporaryFolder folder;
  DataOptions options = ImageFiles(9, 2, 2, 3).write(folder);
  const ImageFiles more(9, 2, 2, 5);
  options.test_path = folder.write("test", more.images);
  options.test_target_path = folder.write("test labels", more.labels);
  const std::string unknown = input_error([&] { load(options); });
  CHECK_CONTAINS(unknown, options.test_target_path);
  CHECK_CONTAINS(unknown, "label 3 of example 3");
  CHECK_CONTAINS(unknown, "labels is 2");
  options = ImageFiles(9, 2, 2, 1).write(folder);
  CHECK_CONTAINS(input_error([&] { load(options); }), "all labels are 0: at least two labels");
}

TEST_CASE("the split depends only on the image: no image is in two splits") {
  const TemporaryFolder folder;
  ImageFiles files(600, 2, 2);
  for (size_t i = 0; i < 300 * 4; ++i) files.images[16 + 300 * 4 + i] = files.images[16 + i];
  DataOptions options = files.write(folder);
  options.val_fraction = 0.2;
  options.test_fraction = 0.1;
  const Corpus corpus = load(options);
  std::set<std::vector<int>> seen;
  int64_t total = 0;
  for (const auto& [name, dataset] : corpus.splits) {
    std::set<std::vector<int>> images;
    for (int64_t i = 0; i < dataset.size; ++i) images.insert(bytes_of(example_of(dataset, i)));
    for (const auto& image : images) CHECK(seen.insert(image).second);
    total += dataset.size;
  }
  CHECK(total == 600);
  // Fractions of 300 different images, each twice, within four standard deviations.
  CHECK(std::abs(split(corpus, "val").size - 120) < 56);
  CHECK(std::abs(split(corpus, "test").size - 60) < 42);
  options.val_fraction = options.test_fraction = 1e-6;
  CHECK_CONTAINS(input_error([&] { load(options); }), "raise `val_fraction`");
}

TEST_CASE(
    "validation and test files are whole splits, and a note counts images shared with training") {
  const TemporaryFolder folder;
  DataOptions options = ImageFiles(50, 2, 2).write(folder);
  const ImageFiles same(20, 2, 2);  // the same generator: the first 20 images of training
  options.val_path = folder.write("val", same.images);
  options.val_target_path = folder.write("val labels", same.labels);
  options.test_fraction = 0.2;
  const Corpus corpus = load(options);
  CHECK(split(corpus, "val").size == 20);
  CHECK(split(corpus, "train").size + split(corpus, "test").size == 50);
  bool has_note = false;
  for (const std::string& note : corpus.notes)
    has_note |= note.find("of 20 images are also in the training data") != note.npos;
  CHECK(has_note);
  options.val_path = folder.write("val", ImageFiles(20, 2, 3).images);
  const std::string message = input_error([&] { load(options); });
  CHECK_CONTAINS(message, options.val_path);
  CHECK_CONTAINS(message, "2 × 3 × 1");
  CHECK_CONTAINS(message, "all must have one size");
}

TEST_CASE("a patch must divide the images, and the error lists the valid ones") {
  const TemporaryFolder folder;
  DataOptions options = ImageFiles(4, 12, 18).write(folder);
  options.patch = 4;
  CHECK_CONTAINS(input_error([&] { load(options); }),
                 "`patch` = 4 does not divide the images of " + options.path +
                     ", which are 12 × 18: choose one of 1, 2, 3, 6");
  options.patch = 6;
  CHECK(load(options).grid == std::vector<int64_t>{2, 3});
}

TEST_CASE("images need their labels, and unused keys are rejected") {
  const TemporaryFolder folder;
  DataOptions options = ImageFiles(4, 2, 2).write(folder);
  options.context = 8;
  CHECK_CONTAINS(input_error([&] { load(options); }), "`context` is not used");
  options.context = DataOptions().context;
  CHECK_CONTAINS(input_error([&] { load_corpus(options, ModelKind::seq2seq, 1); }),
                 "it trains: classifier");
  options.target_path.clear();
  CHECK_CONTAINS(input_error([&] { load(options); }), "needs `target_path`");
}

TEST_CASE("batches of images allocate nothing in the steady state") {
  const TemporaryFolder folder;
  DataOptions options = ImageFiles(100, 8, 8).write(folder);
  options.patch = 2;
  const Corpus corpus = load(options);
  Batches batches = Batches::shuffled(split(corpus, "train"), ModelKind::classifier, 16, 1);
  Batch batch;
  for (int64_t position = 0; position < 4; ++position) batches.get(position, batch);
  CHECK(batch.features.shape() == Shape{16, 16, 4});
  CHECK(batch.target.shape() == Shape{16});
  CHECK(batch.targets == 16);
  CHECK(batch.tokens == 256);
  if (!allocations_are_counted) return;
  const int64_t before = allocations();
  for (int64_t position = 4; position < 50; ++position) batches.get(position, batch);
  CHECK(allocations() == before);
}

}  // namespace heed
