// Defines nn/cache.h: the rows and positions of arrays, then the cache.
#include "nn/cache.h"

#include <algorithm>
#include <numeric>

#include "core/ops.h"
#include "core/parallel_for.h"
#include "core/scope.h"
#include "core/stage_observer.h"

namespace heed::inline HEED_REAL {
namespace {

constexpr int64_t min_capacity = 32;

// The first `length` positions of the rows `rows` of x, in an array for `capacity` positions.
Tensor rows_of(const Tensor& x, std::span<const int64_t> rows, int64_t length, int64_t capacity) {
  const auto count = static_cast<int64_t>(rows.size());
  const int64_t width = x.dim(2), from_step = x.dim(1) * width;
  Tensor chosen = Tensor::empty({count, capacity, width});
  const real* const from = x.data();
  real* const to = chosen.mutable_data();
  parallel_for(count, chunk_rows(length * width), [&](int64_t first, int64_t last) {
    for (int64_t n = first; n < last; ++n)
      std::copy_n(from + rows[static_cast<size_t>(n)] * from_step, length * width,
                  to + n * capacity * width);
  });
  return chosen;
}

// 0 … n - 1
std::vector<int64_t> all_rows(int64_t n) {
  std::vector<int64_t> all(static_cast<size_t>(n));
  std::iota(all.begin(), all.end(), int64_t{0});
  return all;
}

// Writes `more` (N, n, W) into x (N, capacity, W) from position `length` on, and enlarges x if
// necessary.
void append_positions(Tensor& x, int64_t length, const Tensor& more) {
  const int64_t rows = more.dim(0), count = more.dim(1), width = more.dim(2);
  if (!x) x = Tensor::empty({rows, std::max(min_capacity, count), width});
  check(x.dim(0) == rows && x.dim(2) == width,
        "key/value cache: {} does not fit the cached {} in rows and width", more.shape(),
        x.shape());
  if (length + count > x.dim(1))
    x = rows_of(x, all_rows(rows), length, std::max(2 * x.dim(1), length + count));
  real* const to = x.mutable_data() + length * width;
  for (int64_t n = 0; n < rows; ++n)
    std::copy_n(more.data() + n * count * width, count * width, to + n * x.dim(1) * width);
}

// Replaces row n by row rows[n]. Rows may be left out or repeated.
void select_rows(KeyValues& kv, std::span<const int64_t> rows) {
  kv.keys = rows_of(kv.keys, rows, kv.length, kv.keys.dim(1));
  kv.values = rows_of(kv.values, rows, kv.length, kv.values.dim(1));
}

}  // namespace

const KeyValues& KeyValueCache::append(const Module& attention, const KeyValues& more) {
  check(!scope().gradients,
        "key/value cache: gradients are not supported; set scope().gradients = false");
  KeyValues& past = past_[&attention];
  append_positions(past.keys, past.length, more.keys);
  append_positions(past.values, past.length, more.values);
  past.length += more.length;
  stage_finished("cache");
  return past;
}

KeyValueCache::KeyValueCache(int64_t rows) : sources_(all_rows(rows)) {}

void KeyValueCache::select(std::span<const int64_t> rows) {
  std::vector<int64_t> sources;
  for (const int64_t row : rows) {
    check(row >= 0 && row < this->rows(), "key/value cache: there is no row {} of {}", row,
          this->rows());
    sources.push_back(sources_[static_cast<size_t>(row)]);
  }
  const std::vector<int64_t> unchanged = all_rows(this->rows());
  if (!std::equal(rows.begin(), rows.end(), unchanged.begin(), unchanged.end()))
    for (auto& [attention, past] : past_) select_rows(past, rows);
  if (sources != sources_)  // hypotheses of one source share its keys and values
    for (auto& [attention, memory] : memory_) select_rows(memory, rows);
  sources_ = std::move(sources);
  stage_finished("cache");
}

}  // namespace heed::inline HEED_REAL
