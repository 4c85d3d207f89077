#include "data/augment.h"

#include <algorithm>

#include "core/check.h"
#include "core/joined.h"
#include "core/random.h"
#include "core/shape.h"
#include "core/text.h"

namespace heed {

std::vector<int32_t> moved_cells(std::span<const int64_t> grid, const Movement& movement) {
  check(grid.size() >= 2, "moved cells: a grid of {} axes has no rows and columns", grid.size());
  const int64_t rows = grid[grid.size() - 2], columns = grid.back();
  check(rows == columns || movement.turns % 2 == 0,
        "moved cells: a quarter turn of {} × {} cells changes their shape", rows, columns);
  std::vector<int32_t> from(static_cast<size_t>(Shape(grid).size()));
  for (int64_t t = 0; t < std::ssize(from); ++t) {
    const int64_t picture = t / (rows * columns);
    int64_t row = (t / columns % rows + rows - movement.down % rows) % rows;
    int64_t column = (t % columns + columns - movement.right % columns) % columns;
    if (movement.mirrored) column = columns - 1 - column;
    const int64_t i = row, j = column;
    if (movement.turns % 4 == 1) row = columns - 1 - j, column = i;  // clockwise
    if (movement.turns % 4 == 2) row = rows - 1 - i, column = columns - 1 - j;
    if (movement.turns % 4 == 3) row = j, column = rows - 1 - i;
    from[static_cast<size_t>(t)] = static_cast<int32_t>((picture * rows + row) * columns + column);
  }
  return from;
}

// For each pixel of a grid of patches, row by row, the index of its numbers in an example.
static std::vector<int32_t> pixel_indices(std::span<const int64_t> pixels, int64_t patch) {
  std::vector<int32_t> indices(static_cast<size_t>(Shape(pixels).size()));
  const int64_t columns = pixels.back();
  for (int64_t n = 0; n < std::ssize(indices); ++n) {
    const int64_t row = n / columns, column = n % columns;
    const int64_t cell = row / patch * (columns / patch) + column / patch;
    indices[static_cast<size_t>(n)] =
        static_cast<int32_t>((cell * patch + row % patch) * patch + column % patch);
  }
  return indices;
}

// values[to[n]] = the old values[to[from[n]]], for groups of equal length.
template <class Value>
static void move_numbers(std::vector<Value>& values, const std::vector<int32_t>& from,
                         const std::vector<int32_t>& to) {
  const std::vector<Value> before = values;
  const size_t width = values.size() / from.size();
  for (size_t n = 0; n < from.size(); ++n)
    std::copy_n(before.begin() + static_cast<std::ptrdiff_t>(
                                     static_cast<size_t>(to[static_cast<size_t>(from[n])]) * width),
                width,
                values.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(to[n]) * width));
}

std::function<void(int64_t i, Example& example)> augmentation(
    const std::vector<std::string>& changes, std::span<const int64_t> grid, int64_t patch,
    uint64_t seed) {
  static const std::vector<std::string> words = {"shift", "flip", "rotate"};
  const auto has = [](const std::vector<std::string>& all, const std::string& word) {
    return std::find(all.begin(), all.end(), word) != all.end();
  };
  for (const std::string& change : changes)
    check_input(has(words, change), "`augment`: expected some of {}, found {}", joined(words),
                in_quotes(shortened(change)));
  check_input(grid.size() >= 2,
              "`augment` changes pictures, and these data have no rows and "
              "columns: remove it");
  std::vector<int64_t> pixels(grid.begin(), grid.end());
  for (size_t axis = pixels.size() - 2; axis < pixels.size(); ++axis) pixels[axis] *= patch;
  const int64_t rows = pixels[pixels.size() - 2], columns = pixels.back();
  const bool shift = has(changes, "shift"), flip = has(changes, "flip"),
             rotate = has(changes, "rotate");
  check_input(!rotate || rows == columns,
              "`augment`: \"rotate\" needs square pictures, and these are {} × {}", rows, columns);
  return [=, indices = pixel_indices(pixels, patch)](int64_t i, Example& example) {
    Random random(seed, Purpose::augmentation, static_cast<uint32_t>(i),
                  static_cast<uint32_t>(i >> 32));
    const auto below = [&](int64_t n) {
      return static_cast<int64_t>(random.below(static_cast<uint64_t>(n)));
    };
    Movement movement;
    if (shift) movement.down = below(rows), movement.right = below(columns);
    if (flip) movement.mirrored = below(2) == 1;
    if (rotate) movement.turns = static_cast<int>(below(4));
    const std::vector<int32_t> from = moved_cells(pixels, movement);
    move_numbers(example.features, from, indices);
    if (example.target.size() == from.size()) move_numbers(example.target, from, indices);
    if (example.values.size() == from.size()) move_numbers(example.values, from, indices);
  };
}

}  // namespace heed
