// Pictures that training sees shifted, mirrored and rotated.
#include "data/augment.h"

#include <map>
#include <set>

#include "data/batch.h"
#include "drawn_options.h"
#include "idx_writer.h"

namespace heed {

namespace {

using Cells = std::vector<int32_t>;

// An example whose vectors are 0, 1, … in order.
Example counting(size_t numbers) {
  Example example;
  for (size_t n = 0; n < numbers; ++n) example.features.push_back(static_cast<float>(n));
  return example;
}

Cells changed(const std::vector<std::string>& changes, const std::vector<int64_t>& grid,
              int64_t patch, int64_t i, Example example = {}) {
  int64_t pixels = patch * patch;
  for (const int64_t length : grid) pixels *= length;
  if (example.features.empty()) example = counting(static_cast<size_t>(pixels));
  augmentation(changes, grid, patch, 7)(i, example);
  return {example.features.begin(), example.features.end()};
}

DataOptions shapes(std::vector<std::string> augment) {
  DataOptions options = drawn_options(&data_kinds::shapes);
  options.train_size = 4;
  options.augment = std::move(augment);
  return options;
}

}  // namespace

TEST_CASE("a picture is shifted, mirrored and rotated") {
  // 0 1 2
  // 3 4 5
  CHECK(moved_cells(std::vector<int64_t>{2, 3}, {}) == Cells{0, 1, 2, 3, 4, 5});
  CHECK(moved_cells(std::vector<int64_t>{2, 3}, {.right = 1}) == Cells{2, 0, 1, 5, 3, 4});
  CHECK(moved_cells(std::vector<int64_t>{2, 3}, {.down = -1}) == Cells{3, 4, 5, 0, 1, 2});
  CHECK(moved_cells(std::vector<int64_t>{2, 3}, {.mirrored = true}) == Cells{2, 1, 0, 5, 4, 3});
  CHECK(moved_cells(std::vector<int64_t>{2, 3}, {.turns = 2}) == Cells{5, 4, 3, 2, 1, 0});
  // 0 1   2 0   3 2   1 3
  // 2 3   3 1   1 0   0 2    clockwise
  const std::vector<int64_t> square{2, 2};
  for (const auto& [turns, expected] :
       {std::pair(1, Cells{2, 0, 3, 1}), std::pair(3, Cells{1, 3, 0, 2})})
    CHECK(moved_cells(square, {.turns = turns}) == expected);
  // All pictures of a video alike; first the turns, then the mirror, then the shift.
  CHECK(moved_cells(std::vector<int64_t>{2, 2, 2}, {.turns = 1}) == Cells{2, 0, 3, 1, 6, 4, 7, 5});
  CHECK(moved_cells(square, {.right = 1, .mirrored = true, .turns = 1}) == Cells{2, 0, 3, 1});
  CHECK_THROWS_WITH_AS(moved_cells(std::vector<int64_t>{2, 3}, {.turns = 1}),
                       doctest::Contains("changes their shape"), Error);
  CHECK_THROWS_AS(moved_cells(std::vector<int64_t>{5}, {}), Error);
}

TEST_CASE("every change of a picture is drawn, equally often, and the same again") {
  std::map<Cells, int> seen;
  for (int64_t i = 0; i < 3200; ++i) ++seen[changed({"flip", "rotate"}, {3, 3}, 1, i)];
  CHECK(seen.size() == 8);
  for (const auto& [cells, count] : seen) CHECK(std::abs(count - 400) < 100);
  std::set<Cells> shifts;
  for (int64_t i = 0; i < 300; ++i) shifts.insert(changed({"shift"}, {2, 3}, 1, i));
  CHECK(shifts.size() == 6);
  CHECK(changed({"shift"}, {5, 5}, 1, 3) == changed({"shift"}, {5, 5}, 1, 3));
}

TEST_CASE("pixels move within and between patches, with all their channels") {
  // As patches of 2 × 2 and as pixels, the same pixels move to the same places.
  const Cells by_row = {0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15};  // of each patch
  for (int64_t i = 0; i < 20; ++i) {
    const std::vector<std::string> all = {"shift", "flip", "rotate"};
    const Cells pixels = changed(all, {4, 4}, 1, i);
    Example patches = counting(16);
    for (size_t n = 0; n < 16; ++n) patches.features[n] = static_cast<float>(by_row[n]);
    const Cells moved = changed(all, {2, 2}, 2, i, patches);
    for (size_t n = 0; n < 16; ++n) CHECK(moved[n] == pixels[static_cast<size_t>(by_row[n])]);
    const Cells colours = changed(all, {4, 4}, 1, i, counting(48));
    for (size_t n = 0; n < 48; ++n)
      CHECK(colours[n] == 3 * pixels[n / 3] + static_cast<int32_t>(n % 3));
  }
}

TEST_CASE("targets at positions move with their pixels, one for the picture stays") {
  Example example = counting(9);
  for (int32_t n = 0; n < 9; ++n)
    example.target.push_back(n), example.values.push_back(static_cast<float>(n) / 2);
  augmentation({"shift", "rotate"}, std::vector<int64_t>{3, 3}, 1, 7)(1, example);
  CHECK(example.target != Cells{0, 1, 2, 3, 4, 5, 6, 7, 8});
  for (size_t n = 0; n < 9; ++n) {
    CHECK(example.features[n] == static_cast<float>(example.target[n]));
    CHECK(example.values[n] == example.features[n] / 2);
  }
  Example labelled = counting(9);
  labelled.target = {4};
  augmentation({"shift", "rotate"}, std::vector<int64_t>{3, 3}, 1, 7)(1, labelled);
  CHECK(labelled.target == Cells{4});
}

TEST_CASE("training sees changed pictures, again others in the next epoch; evaluation sees none") {
  const Corpus plain = drawn(shapes({})), corpus = drawn(shapes({"shift"}));
  CHECK(plain.fingerprint == corpus.fingerprint);  // the data are the same
  const auto rows = [](const Corpus& of, bool shuffled) {
    Batches batches = shuffled ? Batches::shuffled(split(of, "train"), ModelKind::classifier, 4, 1)
                               : Batches::in_order(split(of, "train"), ModelKind::classifier, 4);
    std::vector<std::vector<float>> all;
    for (int64_t i = 0; i < (shuffled ? 3 : 1); ++i)
      for (const Example* example : batches.examples(i)) all.push_back(example->features);
    return all;
  };
  CHECK(rows(plain, false) == rows(corpus, false));
  const auto changed_rows = rows(corpus, true);
  CHECK(rows(plain, true) != changed_rows);
  CHECK(rows(corpus, true) == changed_rows);
  CHECK(std::set(changed_rows.begin(), changed_rows.end()).size() > 8);  // of 4 pictures
}

TEST_CASE("a change that does not fit the data is rejected") {
  CHECK(input_error([] { drawn(shapes({"turn"})); }) ==
        "`augment`: expected some of shift, flip, rotate, found \"turn\"");
  const TemporaryFolder folder;
  DataOptions wide = ImageFiles(2, 2, 4, 2).write(folder);
  wide.augment = {"rotate"};
  CHECK_CONTAINS(input_error([&] { load(wide); }), "needs square pictures, and these are 2 × 4");
  DataOptions set = drawn_options(&data_kinds::set);
  set.augment = {"flip"};
  CHECK_CONTAINS(input_error([&] { drawn(set); }), "`augment` is not used by `kind` = \"set\"");
}

}  // namespace heed
