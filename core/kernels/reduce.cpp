// Axes are merged into groups that stay and groups that are folded away, in turns. Threads share a
// group that stays. Where the first group is folded and little is left, as in the gradient of a
// bias, they fold pieces of it, which are joined in order at the end.
#include "core/kernels/reduce.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/kernels/simd/lanes.h"
#include "core/parallel.h"

namespace heed::inline HEED_REAL::kernels {
namespace {

struct Sum {
  static constexpr real start = 0;
  real operator()(real a, real b) const { return a + b; }
  // Long runs are added up in pieces, and the pieces in double.
  static real run(int64_t n, const real* x) {
    constexpr int64_t piece = 1024;
    if (n <= piece) return row_sum(n, x);
    double total = 0;
    for (int64_t i = 0; i < n; i += piece) total += row_sum(std::min(piece, n - i), x + i);
    return static_cast<real>(total);
  }
};

struct Max {
  static constexpr real start = -infinity;
  real operator()(real a, real b) const { return b > a || b != b ? b : a; }
  static real run(int64_t n, const real* x) {
    const bool has_nan = max_of(n, [=](int64_t i) { return real(x[i] != x[i]); }) > 0;
    return has_nan ? std::numeric_limits<real>::quiet_NaN() : row_max(n, x);
  }
};

struct Group {
  int64_t length;
  bool stays;
  int64_t from_step = 1, to_step = 1;  // numbers from one index to the next
};

struct Groups {
  std::array<Group, Shape::max_rank> group{};
  size_t count = 0;

  Groups(const Shape& shape, const Shape& target) {
    for (int a = 0; a < shape.rank(); ++a) {
      if (shape[a] == 1) continue;
      const int own = a - shape.rank() + target.rank();
      const bool stays = own >= 0 && target[own] == shape[a];
      if (count > 0 && group[count - 1].stays == stays)
        group[count - 1].length *= shape[a];
      else
        group[count++] = {shape[a], stays};
    }
    int64_t from = 1, to = 1;
    for (size_t k = count; k-- > 0;) {
      group[k].from_step = from;
      group[k].to_step = to;
      from *= group[k].length;
      if (group[k].stays) to *= group[k].length;
    }
  }
  const Group* begin() const { return group.data(); }
  const Group* end() const { return group.data() + count; }
  // The same with only some of the indices of group k.
  Groups cut(size_t k, int64_t length) const {
    Groups part = *this;
    part.group[k].length = length;
    return part;
  }
};

// y[j] = y[j] ∘ x[0, j] ∘ x[1, j] ∘ …, x (rows, width) with `leading` numbers from row to row
template <class Join>
void fold_few_rows(int64_t rows, int64_t width, int64_t leading, const real* x, real* __restrict y,
                   Join join) {
  int64_t i = 0;
  for (; i + 4 <= rows; i += 4) {
    const real *a = x + i * leading, *b = a + leading, *c = b + leading, *d = c + leading;
    for (int64_t j = 0; j < width; ++j) y[j] = join(y[j], join(join(a[j], b[j]), join(c[j], d[j])));
  }
  for (; i < rows; ++i)
    for (int64_t j = 0; j < width; ++j) y[j] = join(y[j], x[i * leading + j]);
}

// The same for any number of rows: in strips of columns that stay in the nearest cache, and many
// rows in blocks of which each is folded by itself, so that long sums in float stay exact.
template <class Join>
void fold_rows(int64_t rows, int64_t width, int64_t leading, const real* x, real* y, Join join) {
  constexpr int64_t strip = 1024, block = 512;
  for (int64_t j = 0; j < width; j += strip) {
    const int64_t columns = std::min(strip, width - j);
    if (rows <= block) {
      fold_few_rows(rows, columns, leading, x + j, y + j, join);
      continue;
    }
    for (int64_t i = 0; i < rows; i += block) {
      std::array<real, strip> part;
      std::fill_n(part.data(), columns, Join::start);
      fold_few_rows(std::min(block, rows - i), columns, leading, x + i * leading + j, part.data(),
                    join);
      fold_few_rows(1, columns, 0, part.data(), y + j, join);
    }
  }
}

// Folds what the groups [g, end) span into y, on the calling thread.
template <class Join>
void fold(const Group* g, const Group* end, const real* x, real* y, Join join) {
  if (g == end) {
    *y = join(*y, *x);
  } else if (g + 1 == end && !g->stays) {
    *y = join(*y, Join::run(g->length, x));
  } else if (g + 1 == end) {
    fold_rows(1, g->length, 0, x, y, join);
  } else if (g + 2 == end && !g->stays) {
    fold_rows(g->length, g[1].length, g->from_step, x, y, join);
  } else {
    for (int64_t i = 0; i < g->length; ++i)
      fold(g + 1, end, x + i * g->from_step, y + (g->stays ? i * g->to_step : 0), join);
  }
}

// Threads share group k, which is the first that stays.
template <class Join>
void fold_shared(const Groups& groups, size_t k, int64_t grain, const real* from, Destination to,
                 Join join) {
  const Group& shared = groups.group[k];
  parallel_for(shared.length, grain, [&](int64_t first, int64_t last) {
    real* y = to.data + first * shared.to_step;
    if (!to.accumulate) std::fill_n(y, (last - first) * shared.to_step, Join::start);
    const Groups part = groups.cut(k, last - first);
    fold(part.begin(), part.end(), from + first * shared.from_step, y, join);
  });
}

constexpr int64_t most_pieces = 16, most_left = 512;

// Threads share the first group, which is folded, and `left` numbers are left of it all.
template <class Join>
void fold_pieces(const Groups& groups, int64_t left, const real* from, real* to, Join join) {
  const int64_t length = groups.group[0].length, step = groups.group[0].from_step;
  const int64_t piece = std::max(chunk_rows(step), (length + most_pieces - 1) / most_pieces);
  std::array<real, most_pieces * most_left> results;
  std::fill_n(results.data(), (length + piece - 1) / piece * left, Join::start);
  parallel_for(length, piece, [&](int64_t first, int64_t last) {
    const Groups part = groups.cut(0, last - first);
    fold(part.begin(), part.end(), from + first * step, &results[first / piece * left], join);
  });
  for (int64_t first = 0; first < length; first += piece)
    fold_rows(1, left, 0, &results[first / piece * left], to, join);
}

template <class Join>
void fold_to(const real* from, const Shape& shape, const Shape& target, Destination to, Join join) {
  const Groups groups(shape, target);
  const int64_t left = target.size();
  const bool empty = shape.size() == 0;
  if (groups.count == 0 || empty || (!groups.group[0].stays && left <= most_left)) {
    if (!to.accumulate) std::fill_n(to.data, left, Join::start);
    if (groups.count == 0)
      *to.data = join(*to.data, *from);
    else if (!empty)
      fold_pieces(groups, left, from, to.data, join);
  } else if (groups.group[0].stays) {
    fold_shared(groups, 0, chunk_rows(groups.group[0].from_step), from, to, join);
  } else {  // strips of no less than a few cache lines
    const int64_t under = groups.group[0].length * groups.group[1].from_step;
    const int64_t strip = groups.group[1].from_step == 1 ? 64 : 1;
    fold_shared(groups, 1, std::max(strip, chunk_rows(under)), from, to, join);
  }
}

}  // namespace

void sum_to(const real* from, const Shape& shape, const Shape& target, Destination to) {
  fold_to(from, shape, target, to, Sum{});
}

void max_to(const real* from, const Shape& shape, const Shape& target, real* to) {
  fold_to(from, shape, target, {to, false}, Max{});
}

}  // namespace heed::inline HEED_REAL::kernels
