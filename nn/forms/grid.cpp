#include "nn/forms/grid.h"

#include <algorithm>
#include <vector>

#include "core/joined.h"
#include "core/ops.h"
#include "core/text.h"

namespace heed::inline HEED_REAL {
namespace {

// The axes of (B, n₁, …, nᵣ, C) with the chosen ones behind the others: (B, rest…, time…, C).
struct Layout {
  int64_t rest = 1, time = 1;
  std::vector<int> order{0};  // axis i of it is axis order[i] of (B, n₁, …, nᵣ, C)

  Layout(const char* operation, std::span<const int64_t> grid, std::span<const int64_t> axes) {
    check(!grid.empty() && grid.size() <= Shape::max_rank - 2,
          "{}: a grid of {} axes, 1 to {} are possible", operation, grid.size(),
          Shape::max_rank - 2);
    int64_t least = 0;
    for (const int64_t axis : axes) {
      check(axis >= 0 && axis < std::ssize(grid), "{}: there is no axis {} of {}", operation, axis,
            grid.size());
      check(axis >= least, "{}: the axes [{}] must ascend", operation, shortened(joined(axes)));
      least = axis + 1;
    }
    for (const bool chosen : {false, true})
      for (int i = 0; i < std::ssize(grid); ++i) {
        if ((std::find(axes.begin(), axes.end(), i) != axes.end()) != chosen) continue;
        order.push_back(i + 1);
        const int64_t length = grid[static_cast<size_t>(i)];
        check(length >= 1 && rest * time <= Shape::max_size / length,
              "{}: a grid of {} has no positions, or too many", operation, joined(grid, " × "));
        (chosen ? time : rest) *= length;
      }
    order.push_back(static_cast<int>(grid.size()) + 1);
  }
};

// (B, n₁, …, nᵣ, C)
Shape whole(int64_t batch, std::span<const int64_t> grid, int64_t channels) {
  std::vector<int64_t> lengths{batch};
  lengths.insert(lengths.end(), grid.begin(), grid.end());
  lengths.push_back(channels);
  return Shape(lengths);
}

// Copies nothing if the axes stay where they are.
Tensor ordered(const Tensor& x, const std::vector<int>& order) {
  return std::is_sorted(order.begin(), order.end()) ? x : permute(x, order);
}

}  // namespace

Tensor unfold(const Tensor& x, std::span<const int64_t> grid, std::span<const int64_t> axes) {
  const Layout to("unfold", grid, axes);
  const int64_t positions = to.rest * to.time;
  check(x.rank() == 3 && x.dim(1) == positions,
        "unfold: x {} must have shape [B, {}, C] for a grid of {}", x.shape(), positions,
        joined(grid, " × "));
  const Tensor lines = ordered(x.reshape(whole(x.dim(0), grid, x.dim(2))), to.order);
  return lines.reshape({x.dim(0) * to.rest, to.time, x.dim(2)});
}

Tensor fold(const Tensor& y, std::span<const int64_t> grid, std::span<const int64_t> axes) {
  const Layout from("fold", grid, axes);
  check(y.rank() == 3 && y.dim(0) % from.rest == 0 && y.dim(1) == from.time,
        "fold: y {} must have shape [B · {}, {}, C] for a grid of {}", y.shape(), from.rest,
        from.time, joined(grid, " × "));
  const int64_t batch = y.dim(0) / from.rest, channels = y.dim(2);
  const Shape to = whole(batch, grid, channels);
  Shape lines = to;
  std::vector<int> back(from.order.size());
  for (int i = 0; i < to.rank(); ++i) {
    const int axis = from.order[static_cast<size_t>(i)];
    lines = lines.with(i, to[axis]);
    back[static_cast<size_t>(axis)] = i;
  }
  return ordered(y.reshape(lines), back).reshape({batch, from.rest * from.time, channels});
}

}  // namespace heed::inline HEED_REAL
