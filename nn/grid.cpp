#include "nn/grid.h"

#include <algorithm>
#include <vector>

#include "core/joined.h"
#include "core/ops.h"

namespace heed::inline HEED_REAL {
namespace {

// One chosen axis on its way to its place among those behind: it jumps over what is not chosen.
// (before, length, jumped, behind) → (before, jumped, length, behind)
struct Jump {
  int64_t before, length, jumped, behind;

  Tensor there(const Tensor& x) const {
    return transpose(x.reshape({before, length, jumped, behind}), 1, 2);
  }
  Tensor back(const Tensor& y) const {
    return transpose(y.reshape({before, jumped, length, behind}), 1, 2);
  }
};

// How the chosen axes come behind the others: the last of them first.
struct Plan {
  int64_t time = 1, rest = 1;
  std::vector<Jump> jumps;

  Plan(int64_t batch, int64_t channels, std::span<const int64_t> grid,
       std::span<const int64_t> axes) {
    for (size_t i = grid.size(); i-- > 0;) {
      int64_t before = batch;
      for (const int64_t length : grid.first(i)) before *= length;
      if (std::find(axes.begin(), axes.end(), static_cast<int64_t>(i)) == axes.end()) {
        rest *= grid[i];
        continue;
      }
      if (rest > 1) jumps.push_back({before, grid[i], rest, time * channels});
      time *= grid[i];
    }
  }
};

// The places of a grid.
int64_t checked_places(const char* operation, std::span<const int64_t> grid,
                       std::span<const int64_t> axes) {
  check(!grid.empty(), "{}: a grid of 0 axes", operation);
  int64_t places = 1, least = 0;
  for (const int64_t length : grid) {
    check(length >= 1 && places <= Shape::max_size / length,
          "{}: a grid of {} has no places, or too many", operation, joined(grid, " × "));
    places *= length;
  }
  for (const int64_t axis : axes) {
    check(axis >= 0 && axis < static_cast<int64_t>(grid.size()), "{}: there is no axis {} of {}",
          operation, axis, grid.size());
    check(axis >= least, "{}: the axes [{}] must ascend", operation, joined(axes));
    least = axis + 1;
  }
  return places;
}

}  // namespace

Tensor unfold(const Tensor& x, std::span<const int64_t> grid, std::span<const int64_t> axes) {
  const int64_t places = checked_places("unfold", grid, axes);
  check(x.rank() == 3 && x.dim(1) == places,
        "unfold: x {} must have shape [B, {}, C] for a grid of {}", x.shape(), places,
        joined(grid, " × "));
  const Plan plan(x.dim(0), x.dim(2), grid, axes);
  Tensor y = x;
  for (const Jump& jump : plan.jumps) y = jump.there(y);
  return y.reshape({x.dim(0) * plan.rest, plan.time, x.dim(2)});
}

Tensor fold(const Tensor& y, std::span<const int64_t> grid, std::span<const int64_t> axes) {
  const int64_t places = checked_places("fold", grid, axes);
  const int64_t rest = Plan(1, 1, grid, axes).rest, time = places / rest;
  check(y.rank() == 3 && y.dim(0) % rest == 0 && y.dim(1) == time,
        "fold: y {} must have shape [B · {}, {}, C] for a grid of {}", y.shape(), rest, time,
        joined(grid, " × "));
  const int64_t batch = y.dim(0) / rest, channels = y.dim(2);
  const Plan plan(batch, channels, grid, axes);
  Tensor x = y;
  for (size_t i = plan.jumps.size(); i-- > 0;) x = plan.jumps[i].back(x);
  return x.reshape({batch, places, channels});
}

}  // namespace heed::inline HEED_REAL
