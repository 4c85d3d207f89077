// Images with labels as a corpus, from IDX files (data/idx.h).
//
// An image of height × width pixels is cut into patches of p × p (Dosovitskiy et al. 2021, "An
// image is worth 16 × 16 words", section 3.1): a place is a patch, row by row on the grid (height /
// p, width / p), and its vector the p · p · channels bytes of its pixels, row-major. With a patch
// of 2:
//
//    0  1 |  2  3
//    4  5 |  6  7         (0 1 4 5)  (2 3 6 7)
//   ------+------   →                             grid (2, 2), vectors of 4, each number / 255
//    8  9 | 10 11         (8 9 12 13)  (10 11 14 15)
//   12 13 | 14 15
//
// Numbers are in [0, 1], 0 for black, and are not normalised by the mean and deviation of the
// training images: the first layer is linear and can learn that, so that a trained model needs to
// know nothing of the images it was trained on.
//
// In memory images stay bytes; they become numbers when an example is asked for.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_set>
#include <utility>

#include "core/check.h"
#include "core/joined.h"
#include "data/idx.h"
#include "data/loaders.h"
#include "data/split.h"

namespace heed {

namespace {

constexpr int64_t most_numbers = int64_t{1} << 20;  // in an image

// What a file of images and its file of labels hold.
struct Images {
  std::string path, label_path;
  int64_t count, height, width, channels;
  std::vector<uint8_t> pixels;  // (count, height, width, channels)
  std::vector<uint8_t> labels;  // (count)

  int64_t numbers() const { return height * width * channels; }
  const uint8_t* image(int64_t i) const { return pixels.data() + i * numbers(); }
  uint64_t hash(int64_t i) const {
    return stable_hash({reinterpret_cast<const char*>(image(i)), static_cast<size_t>(numbers())});
  }
};

std::string_view text_of(const std::vector<uint8_t>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Both headers are checked, and against each other, before much is read.
std::shared_ptr<const Images> read_images(const std::string& path, const std::string& label_path,
                                          Files& files) {
  IdxFile pixels(path, IdxContent::images), labels(label_path, IdxContent::labels);
  const std::vector<int64_t>& dims = pixels.dims();
  check_input(dims[0] == labels.dims()[0],
              "{} holds {} images and {} holds {} labels: name two files of the same examples",
              path, dims[0], label_path, labels.dims()[0]);
  auto images = std::make_shared<Images>();
  images->path = path;
  images->label_path = label_path;
  images->count = dims[0], images->height = dims[1], images->width = dims[2];
  images->channels = dims.size() == 4 ? dims[3] : 1;
  check_input(images->numbers() <= most_numbers,
              "{}: an image of {} × {} × {} is too large: {} numbers at most; make them smaller",
              path, images->height, images->width, images->channels, most_numbers);
  images->pixels = pixels.read();
  images->labels = labels.read();
  files.add(path, {pixels.header(), text_of(images->pixels)});
  files.add(label_path, {labels.header(), text_of(images->labels)});
  return images;
}

class Patches final : public Dataset {
 public:
  Patches(std::shared_ptr<const Images> images, std::vector<int32_t> chosen, int64_t patch)
      : images_(std::move(images)), chosen_(std::move(chosen)), patch_(patch) {}

  int64_t size() const override { return static_cast<int64_t>(chosen_.size()); }
  ExampleFormat format() const override {
    return {.features = patch_ * patch_ * images_->channels};
  }
  void get(int64_t i, Example& example) const override {
    const Images& images = *images_;
    const int32_t which = chosen_[static_cast<size_t>(i)];
    example.target.assign(1, images.labels[static_cast<size_t>(which)]);
    example.features.resize(static_cast<size_t>(images.numbers()));
    float* out = example.features.data();
    for (int64_t top = 0; top < images.height; top += patch_)
      for (int64_t left = 0; left < images.width; left += patch_)
        for (int64_t row = top; row < top + patch_; ++row) {
          const uint8_t* const pixels =
              images.image(which) + (row * images.width + left) * images.channels;
          out = std::transform(pixels, pixels + patch_ * images.channels, out, scaled);
        }
  }

 private:
  static float scaled(uint8_t pixel) { return static_cast<float>(pixel) / 255.0F; }

  std::shared_ptr<const Images> images_;
  std::vector<int32_t> chosen_;
  int64_t patch_;
};

class ImageLoader {
 public:
  ImageLoader(const DataOptions& options, Files& files) : options_(options) {
    sources_[0] = read_images(options.path, options.target_path, files);
    if (!options.val_path.empty())
      sources_[1] = read_images(options.val_path, options.val_target_path, files);
    if (!options.test_path.empty())
      sources_[2] = read_images(options.test_path, options.test_target_path, files);
  }

  Corpus load() {
    choose_format();
    choose_labels();
    hold_out();
    note_common_images();
    for (size_t split = 0; split < chosen_.size(); ++split) store(split);
    return std::move(corpus_);
  }

 private:
  const Images& train() const { return *sources_[0]; }

  void choose_format() {
    const int64_t height = train().height, width = train().width, patch = options_.patch;
    std::vector<int64_t> patches;
    for (int64_t side = 1; side <= std::min(height, width); ++side)
      if (height % side == 0 && width % side == 0) patches.push_back(side);
    check_input(height % patch == 0 && width % patch == 0,
                "data.patch = {} does not divide the images of {}, which are {} × {}: choose of {}",
                patch, train().path, height, width, joined(patches));
    for (const auto& images : sources_)
      check_input(!images || (images->height == height && images->width == width &&
                              images->channels == train().channels),
                  "{} holds images of {} × {} × {} and {} of {} × {} × {}: all must be alike",
                  images ? images->path : "", images ? images->height : 0,
                  images ? images->width : 0, images ? images->channels : 0, train().path, height,
                  width, train().channels);
    corpus_.format.features = patch * patch * train().channels;
    corpus_.grid = {height / patch, width / patch};
    corpus_.longest_input = corpus_.grid[0] * corpus_.grid[1];
  }

  // The names there are, or a number for each label up to the largest in training.
  void choose_labels() {
    const int most = *std::max_element(train().labels.begin(), train().labels.end());
    corpus_.labels = options_.label_names;
    for (int label = 0; options_.label_names.empty() && label <= most; ++label)
      corpus_.labels.push_back(std::to_string(label));
    check_input(corpus_.labels.size() >= 2, "{}: all labels are 0: two are needed",
                train().label_path);
    for (const auto& images : sources_)
      if (images) check_labels(*images);
  }

  void check_labels(const Images& images) const {
    const size_t classes = corpus_.labels.size();
    const auto wrong = std::find_if(images.labels.begin(), images.labels.end(),
                                    [&](uint8_t label) { return label >= classes; });
    if (wrong == images.labels.end()) return;
    throw_outside(images, *wrong, wrong - images.labels.begin());
  }

  [[noreturn]] void throw_outside(const Images& images, int label, int64_t example) const {
    const std::string known = options_.label_names.empty()
                                  ? fmt::format("the labels of {} are at most", train().label_path)
                                  : std::string("data.label_names has names for 0 to");
    throw InputError(fmt::format("{}: label {} of example {} (from 0) is not known: {} {}",
                                 images.label_path, label, example, known,
                                 corpus_.labels.size() - 1));
  }

  // A share of the training images, by hash, for the splits that have no files of their own.
  void hold_out() {
    const Shares shares{sources_[1] ? 0 : options_.val_fraction,
                        sources_[2] ? 0 : options_.test_fraction};
    for (int64_t i = 0; i < train().count; ++i)
      chosen_[static_cast<size_t>(shares.of(train().hash(i)))].push_back(static_cast<int32_t>(i));
    check_input(!chosen_[0].empty(), "{}: no image is left to train on: lower data.val_fraction",
                train().path);
    for (const auto& [split, share] : {std::pair<size_t, double>{1, shares.val}, {2, shares.test}})
      check_input(share == 0 || !chosen_[split].empty(),
                  "{0}: none of {1} images falls in the share of the split {2}: raise "
                  "data.{2}_fraction, or 0 for no such split",
                  train().path, train().count, split_names[split]);
    for (const size_t split : {1, 2})
      for (int64_t i = 0; sources_[split] && i < sources_[split]->count; ++i)
        chosen_[split].push_back(static_cast<int32_t>(i));
  }

  void note_common_images() {
    std::unordered_set<uint64_t> trained;
    if (sources_[1] || sources_[2])
      for (const int32_t i : chosen_[0]) trained.insert(train().hash(i));
    for (const size_t split : {1, 2}) {
      if (!sources_[split]) continue;
      const Images& images = *sources_[split];
      int64_t common = 0;
      for (int64_t i = 0; i < images.count; ++i) common += trained.contains(images.hash(i));
      if (common > 0)
        corpus_.notes.push_back(fmt::format("{}: {} of {} images are in the training data too",
                                            split_names[split], common, images.count));
    }
  }

  void store(size_t split) {
    if (chosen_[split].empty()) return;
    corpus_.notes.push_back(
        fmt::format("{}: {} images", split_names[split], chosen_[split].size()));
    corpus_.splits[split_names[split]] = std::make_unique<Patches>(
        sources_[split] ? sources_[split] : sources_[0], std::move(chosen_[split]), options_.patch);
  }

  const DataOptions& options_;
  Corpus corpus_;
  std::array<std::shared_ptr<const Images>, 3> sources_;  // by Split; none: held out of the first
  std::array<std::vector<int32_t>, 3> chosen_;            // by Split: images of the source
};

}  // namespace

Corpus load_images(const DataOptions& options, Files& files) {
  return ImageLoader(options, files).load();
}

}  // namespace heed
