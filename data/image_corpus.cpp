// The kind "images": images with labels, from IDX files (data/idx.h).
//
// An image of height × width pixels is cut into patches of p × p (Dosovitskiy et al. 2021, "An
// image is worth 16 × 16 words", section 3.1). A position is a patch, row by row on the grid
// (height / p, width / p). Its vector is the p · p · channels bytes of its pixels, row-major. With
// p = 2:
//
//    0  1 |  2  3
//    4  5 |  6  7         (0 1 4 5)  (2 3 6 7)
//   ------+------   →                             grid (2, 2), 4 features, each byte / 255
//    8  9 | 10 11         (8 9 12 13)  (10 11 14 15)
//   12 13 | 14 15
//
// Features are in [0, 1], 0 for black. They are not normalised by the mean and deviation of the
// training images: the first layer is linear and can learn that, so that a trained model needs no
// statistics of its training images.
//
// In memory images stay bytes. They become floats when an example is read.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "core/joined.h"
#include "core/text.h"
#include "data/corpus.h"
#include "data/file_splits.h"
#include "data/files.h"
#include "data/idx.h"

namespace heed {

namespace {

constexpr int64_t max_image_size = int64_t{1} << 20;  // in bytes

// A file of images and its file of labels.
struct Images {
  std::string path, label_path;
  int64_t count, height, width, channels;
  std::vector<uint8_t> pixels;  // (count, height, width, channels)
  std::vector<uint8_t> labels;  // (count)

  int64_t image_size() const { return height * width * channels; }
  const uint8_t* image(int64_t i) const { return pixels.data() + i * image_size(); }
  uint64_t hash(int64_t i) const {
    return stable_hash(
        {reinterpret_cast<const char*>(image(i)), static_cast<size_t>(image_size())});
  }
};

std::string_view text_of(const std::vector<uint8_t>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Checks both headers, and that they agree, before it reads the content.
std::shared_ptr<const Images> read_images(const std::string& path, const std::string& label_path,
                                          Files& files) {
  IdxFile pixels(path, IdxContent::images), labels(label_path, IdxContent::labels);
  const std::vector<int64_t>& dims = pixels.dims();
  check_input(dims[0] == labels.dims()[0],
              "{} holds {} images and {} holds {} labels: the files must have the same examples",
              path, dims[0], label_path, labels.dims()[0]);
  auto images = std::make_shared<Images>();
  images->path = path;
  images->label_path = label_path;
  images->count = dims[0], images->height = dims[1], images->width = dims[2];
  images->channels = dims.size() == 4 ? dims[3] : 1;
  check_input(images->image_size() <= max_image_size,
              "{}: an image of {} × {} × {} is too large: use images of at most {} bytes", path,
              images->height, images->width, images->channels, max_image_size);
  images->pixels = pixels.read();
  images->labels = labels.read();
  files.add(path, {pixels.header(), text_of(images->pixels)});
  files.add(label_path, {labels.header(), text_of(images->labels)});
  return images;
}

float scaled(uint8_t pixel) { return static_cast<float>(pixel) / 255.0F; }

Dataset patches_of(std::shared_ptr<const Images> source, std::vector<size_t> chosen,
                   int64_t patch) {
  const ExampleFormat format{.features = patch * patch * source->channels};
  const int64_t size = std::ssize(chosen);
  auto write = [=, source = std::move(source), chosen = std::move(chosen)](int64_t i,
                                                                           Example& example) {
    const Images& images = *source;
    const auto image = static_cast<int64_t>(chosen[static_cast<size_t>(i)]);
    example.target.assign(1, images.labels[static_cast<size_t>(image)]);
    example.features.resize(static_cast<size_t>(images.image_size()));
    float* out = example.features.data();
    for (int64_t top = 0; top < images.height; top += patch)
      for (int64_t left = 0; left < images.width; left += patch)
        for (int64_t row = top; row < top + patch; ++row) {
          const uint8_t* const pixels =
              images.image(image) + (row * images.width + left) * images.channels;
          out = std::transform(pixels, pixels + patch * images.channels, out, scaled);
        }
  };
  return feature_dataset(format, size, std::move(write));
}

class ImageLoader {
 public:
  ImageLoader(const DataOptions& options, Files& files) : options_(options) {
    const auto read = [&](Split split, const std::string& path, const std::string& labels) {
      if (!path.empty()) sources_[split] = read_images(path, labels, files);
    };
    read(Split::train, options.path, options.target_path);
    read(Split::val, options.val_path, options.val_target_path);
    read(Split::test, options.test_path, options.test_target_path);
  }

  Corpus load() {
    choose_format();
    choose_labels();
    std::map<Split, std::vector<uint64_t>> hashes;
    for (const auto& [file, images] : sources_)
      for (int64_t i = 0; i < images->count; ++i) hashes[file].push_back(images->hash(i));
    for (auto& [split, indices] :
         assign_splits(hashes, {options_.val_fraction, options_.test_fraction}, train().path,
                       "image", corpus_.notes))
      store(split, std::move(indices));
    return std::move(corpus_);
  }

 private:
  const Images& train() const { return *sources_.at(Split::train); }

  void choose_format() {
    const int64_t height = train().height, width = train().width, patch = options_.patch;
    std::vector<int64_t> patches;
    for (int64_t side = 1; side <= std::min(height, width); ++side)
      if (height % side == 0 && width % side == 0) patches.push_back(side);
    check_input(
        height % patch == 0 && width % patch == 0,
        "`patch` = {} does not divide the images of {}, which are {} × {}: choose one of {}", patch,
        train().path, height, width, joined(patches));
    for (const auto& [split, images] : sources_)
      check_input(images->height == height && images->width == width &&
                      images->channels == train().channels,
                  "{} holds images of {} × {} × {} and {} of {} × {} × {}: all must have one size",
                  images->path, images->height, images->width, images->channels, train().path,
                  height, width, train().channels);
    corpus_.format.features = patch * patch * train().channels;
    corpus_.grid = {height / patch, width / patch};
    corpus_.longest_input = corpus_.grid[0] * corpus_.grid[1];
  }

  // The names in the options, or the numbers up to the largest label in training.
  void choose_labels() {
    const int largest = *std::max_element(train().labels.begin(), train().labels.end());
    corpus_.labels = options_.label_names;
    for (int label = 0; options_.label_names.empty() && label <= largest; ++label)
      corpus_.labels.push_back(std::to_string(label));
    check_input(corpus_.labels.size() >= 2, "{}: all labels are 0: at least two labels are needed",
                train().label_path);
    for (const auto& [split, images] : sources_) check_labels(*images);
  }

  void check_labels(const Images& images) const {
    const size_t classes = corpus_.labels.size();
    const auto wrong = std::find_if(images.labels.begin(), images.labels.end(),
                                    [&](uint8_t label) { return label >= classes; });
    if (wrong == images.labels.end()) return;
    throw InputError(fmt::format("{}: label {} of example {} (from 0) is unknown: {} {}",
                                 images.label_path, int{*wrong}, wrong - images.labels.begin(),
                                 options_.label_names.empty()
                                     ? fmt::format("the largest label of {} is", train().label_path)
                                     : "`label_names` has names for 0 to",
                                 classes - 1));
  }

  void store(Split split, std::vector<size_t> indices) {
    if (indices.empty()) return;
    const char* const name = name_of(split_names, split);
    corpus_.notes.push_back(fmt::format("{}: {} images", name, indices.size()));
    const auto& images = sources_.at(sources_.contains(split) ? split : Split::train);
    corpus_.splits[name] = patches_of(images, std::move(indices), options_.patch);
  }

  const DataOptions& options_;
  Corpus corpus_;
  std::map<Split, std::shared_ptr<const Images>> sources_;  // none: held out of training
};

Corpus load_images(const DataOptions& options, Files& files, const LoadRequest&) {
  return ImageLoader(options, files).load();
}

void check_images(const DataOptions& options) {
  check_input(!options.target_path.empty(),
              "`kind` = \"images\" needs `target_path`, the file of labels");
  const std::vector<std::string>& names = options.label_names;
  check_input(names.size() != 1, "`label_names` has one name: a classifier needs two labels");
  check_input(names.size() <= 256, "`label_names` has {} names: labels are bytes, at most 256",
              names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    check_input(!names[i].empty(), "`label_names`: the name of label {} is empty", i);
    const auto before = std::find(names.begin(), names.end(), names[i]) - names.begin();
    check_input(before == static_cast<std::ptrdiff_t>(i),
                "`label_names`: labels {} and {} are both named {}", before, i,
                in_quotes(names[i]));
  }
}

}  // namespace

const DataKind data_kinds::images = {
    .name = "images",
    .keys = {"path", "target_path", "val_path", "val_target_path", "test_path", "test_target_path",
             "test_fraction", "patch", "label_names", "augment"},
    .framings = {ModelKind::classifier},
    .check = check_images,
    .load = load_images};

}  // namespace heed
