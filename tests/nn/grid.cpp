#include "nn/forms/grid.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "core/ops.h"
#include "gradient_check.h"
#include "mixing_check.h"

using namespace heed;
using namespace heed::testing;

namespace {

using Lengths = std::vector<int64_t>;

const Lengths grids[] = {{5}, {3, 4}, {2, 3, 4}, {2, 3, 2, 2}};

// Every choice of axes but none at all.
std::vector<Lengths> subsets(size_t axes) {
  std::vector<Lengths> all;
  for (unsigned chosen = 1; chosen < 1U << axes; ++chosen) {
    all.emplace_back();
    for (size_t i = 0; i < axes; ++i)
      if (chosen >> i & 1U) all.back().push_back(static_cast<int64_t>(i));
  }
  return all;
}

// The indices of position t of a grid after unfolding: the row-major index of its coordinates along
// the chosen axes, and along the others.
struct Where {
  int64_t time = 0, rest = 0;
};
Where where_is(int64_t t, const Lengths& grid, const Lengths& axes) {
  Lengths coordinates(grid.size());
  for (size_t i = grid.size(); i-- > 0; t /= grid[i]) coordinates[i] = t % grid[i];
  Where found;
  for (size_t i = 0; i < grid.size(); ++i) {
    const bool chosen = std::find(axes.begin(), axes.end(), static_cast<int64_t>(i)) != axes.end();
    int64_t& number = chosen ? found.time : found.rest;
    number = number * grid[i] + coordinates[i];
  }
  return found;
}

int64_t product(const Lengths& lengths) {
  int64_t result = 1;
  for (const int64_t length : lengths) result *= length;
  return result;
}

}  // namespace

TEST_CASE("unfolding makes the chosen axes one time axis and keeps every fibre whole") {
  constexpr int64_t batch = 2, channels = 3;
  for (const Lengths& grid : grids)
    for (const Lengths& axes : subsets(grid.size())) {
      const int64_t positions = product(grid);
      int64_t time = 1;
      for (const int64_t axis : axes) time *= grid[static_cast<size_t>(axis)];
      const int64_t rest = positions / time;
      const Tensor x = random_tensor({batch, positions, channels}, 1);
      const Tensor y = unfold(x, grid, axes);
      REQUIRE(y.shape() == Shape{batch * rest, time, channels});
      bool same = true;
      for (int64_t n = 0; n < batch * positions; ++n) {
        const Where at = where_is(n % positions, grid, axes);
        const real* fibre =
            y.data() + ((n / positions * rest + at.rest) * time + at.time) * channels;
        same = same && std::equal(fibre, fibre + channels, x.data() + n * channels);
      }
      CHECK(same);
    }
}

TEST_CASE("an image's unfolding along both axes is its mode-3 unfolding") {
  constexpr int64_t height = 3, width = 4, channels = 2;
  const Tensor image = random_tensor({height, width, channels}, 1);
  const Lengths grid{height, width}, both{0, 1};
  const Tensor unfolded =  // c × hw: Kolda & Bader's X₍₃₎
      transpose(unfold(image.reshape({1, height * width, channels}), grid, both), 1, 2)
          .reshape({channels, height * width});
  for (int64_t i = 0; i < height; ++i)
    for (int64_t j = 0; j < width; ++j)
      for (int64_t c = 0; c < channels; ++c)
        CHECK(unfolded.data()[c * height * width + i * width + j] ==
              image.data()[(i * width + j) * channels + c]);
}

TEST_CASE("folding is the inverse of unfolding") {
  for (const Lengths& grid : grids)
    for (const Lengths& axes : subsets(grid.size())) {
      const Tensor x = random_tensor({2, product(grid), 3}, 1);
      const Tensor back = fold(unfold(x, grid, axes), grid, axes);
      CHECK(back.shape() == x.shape());
      CHECK(std::equal(back.values().begin(), back.values().end(), x.data()));
    }
}

TEST_CASE("gradients of unfolding and folding agree with central differences") {
  const Lengths grid{2, 3, 2};
  for (const Lengths& axes : subsets(grid.size())) {
    const Tensor x = random_tensor({2, 12, 2}, 1);
    const Shape shape = unfold(x, grid, axes).shape();
    const Tensor factor = random_tensor(shape, 2);
    check_gradients({{"x", x}, {"factor", factor}},
                    [&] { return read_out(fold(unfold(x, grid, axes) * factor, grid, axes)); });
  }
}

TEST_CASE("a grid that does not fit is rejected") {
  const Tensor x = Tensor::zeros({2, 12, 3});
  const auto rejects = [&x](const Lengths& grid, const Lengths& axes, const char* text) {
    CHECK_THROWS_WITH_AS(unfold(x, grid, axes), doctest::Contains(text), Error);
    CHECK_THROWS_AS(fold(x, grid, axes), Error);
  };
  rejects({3, 5}, {0}, "x [2, 12, 3]");
  rejects({3, 4}, {2}, "no axis 2");
  rejects({3, 4}, {-1}, "no axis -1");
  rejects({3, 4}, {1, 0}, "ascend");
  rejects({3, 4}, {1, 1}, "ascend");
  rejects({}, {}, "0 axes");
  rejects({3, 1, 2, 1, 2}, {0}, "5 axes");
  rejects({3, 0}, {0}, "no positions");
  CHECK_THROWS_WITH_AS(unfold(Tensor::zeros({12, 3}), Lengths{3, 4}, Lengths{0}),
                       doctest::Contains("unfold"), Error);
  CHECK_THROWS_WITH_AS(fold(Tensor::zeros({5, 3, 2}), Lengths{3, 4}, Lengths{0}),
                       doctest::Contains("fold"), Error);  // 5 is not a number of columns
}
