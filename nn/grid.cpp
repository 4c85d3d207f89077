#include "nn/grid.h"

#include <algorithm>
#include <vector>

#include "core/joined.h"
#include "core/ops.h"
#include "core/text.h"

namespace heed::inline HEED_REAL {
namespace {

// Moves one chosen axis behind the axes that are not chosen:
// (before, length, skipped, behind) → (before, skipped, length, behind)
struct Move {
  int64_t before, length, skipped, behind;

  Tensor forward(const Tensor& x) const {
    return transpose(x.reshape({before, length, skipped, behind}), 1, 2);
  }
  Tensor backward(const Tensor& y) const {
    return transpose(y.reshape({before, skipped, length, behind}), 1, 2);
  }
};

// The moves that bring all chosen axes behind the others, the last axis first.
struct Plan {
  int64_t time = 1, rest = 1;
  std::vector<Move> moves;

  Plan(int64_t batch, int64_t channels, std::span<const int64_t> grid,
       std::span<const int64_t> axes) {
    for (size_t i = grid.size(); i-- > 0;) {
      int64_t before = batch;
      for (const int64_t length : grid.first(i)) before *= length;
      if (std::find(axes.begin(), axes.end(), static_cast<int64_t>(i)) == axes.end()) {
        rest *= grid[i];
        continue;
      }
      if (rest > 1) moves.push_back({before, grid[i], rest, time * channels});
      time *= grid[i];
    }
  }
};

// The number of positions of a valid grid with valid axes.
int64_t checked_positions(const char* operation, std::span<const int64_t> grid,
                          std::span<const int64_t> axes) {
  check(!grid.empty(), "{}: a grid of 0 axes", operation);
  int64_t positions = 1, least = 0;
  for (const int64_t length : grid) {
    check(length >= 1 && positions <= Shape::max_size / length,
          "{}: a grid of {} has no positions, or too many", operation, joined(grid, " × "));
    positions *= length;
  }
  for (const int64_t axis : axes) {
    check(axis >= 0 && axis < static_cast<int64_t>(grid.size()), "{}: there is no axis {} of {}",
          operation, axis, grid.size());
    check(axis >= least, "{}: the axes [{}] must ascend", operation, shortened(joined(axes)));
    least = axis + 1;
  }
  return positions;
}

}  // namespace

Tensor unfold(const Tensor& x, std::span<const int64_t> grid, std::span<const int64_t> axes) {
  const int64_t positions = checked_positions("unfold", grid, axes);
  check(x.rank() == 3 && x.dim(1) == positions,
        "unfold: x {} must have shape [B, {}, C] for a grid of {}", x.shape(), positions,
        joined(grid, " × "));
  const Plan plan(x.dim(0), x.dim(2), grid, axes);
  Tensor y = x;
  for (const Move& move : plan.moves) y = move.forward(y);
  return y.reshape({x.dim(0) * plan.rest, plan.time, x.dim(2)});
}

Tensor fold(const Tensor& y, std::span<const int64_t> grid, std::span<const int64_t> axes) {
  const int64_t positions = checked_positions("fold", grid, axes);
  const int64_t rest = Plan(1, 1, grid, axes).rest, time = positions / rest;
  check(y.rank() == 3 && y.dim(0) % rest == 0 && y.dim(1) == time,
        "fold: y {} must have shape [B · {}, {}, C] for a grid of {}", y.shape(), rest, time,
        joined(grid, " × "));
  const int64_t batch = y.dim(0) / rest, channels = y.dim(2);
  const Plan plan(batch, channels, grid, axes);
  Tensor x = y;
  for (size_t i = plan.moves.size(); i-- > 0;) x = plan.moves[i].backward(x);
  return x.reshape({batch, positions, channels});
}

}  // namespace heed::inline HEED_REAL
