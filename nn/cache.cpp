#include "nn/cache.h"

#include <algorithm>
#include <numeric>

#include "core/ops.h"
#include "core/parallel.h"
#include "core/scope.h"

namespace heed::inline HEED_REAL {
namespace {

constexpr int64_t least_room = 32;

Tensor first_places(const Tensor& x, int64_t length) {
  return length == x.dim(1) ? x : slice(x, 1, 0, length);
}

// The first `length` places of the rows that `rows` names, in an array with room for `room`.
Tensor rows_of(const Tensor& x, std::span<const int64_t> rows, int64_t length, int64_t room) {
  const auto count = static_cast<int64_t>(rows.size());
  const int64_t width = x.dim(2), from_step = x.dim(1) * width;
  Tensor chosen = Tensor::empty({count, room, width});
  const real* const from = x.data();
  real* const to = chosen.mutable_data();
  parallel_for(count, chunk_rows(length * width), [&](int64_t first, int64_t last) {
    for (int64_t n = first; n < last; ++n)
      std::copy_n(from + rows[static_cast<size_t>(n)] * from_step, length * width,
                  to + n * room * width);
  });
  return chosen;
}

std::vector<int64_t> counted(int64_t n) {
  std::vector<int64_t> all(static_cast<size_t>(n));
  std::iota(all.begin(), all.end(), int64_t{0});
  return all;
}

// Writes `more` (N, n, W) into x (N, room, W) from place `length` on; x grows where it must.
void put_behind(Tensor& x, int64_t length, const Tensor& more) {
  const int64_t rows = more.dim(0), places = more.dim(1), width = more.dim(2);
  if (!x) x = Tensor::empty({rows, std::max(least_room, places), width});
  check(x.dim(0) == rows && x.dim(2) == width,
        "key/value cache: {} cannot go behind what is kept, {}", more.shape(), x.shape());
  if (length + places > x.dim(1))
    x = rows_of(x, counted(rows), length, std::max(2 * x.dim(1), length + places));
  real* const to = x.mutable_data() + length * width;
  for (int64_t n = 0; n < rows; ++n)
    std::copy_n(more.data() + n * places * width, places * width, to + n * x.dim(1) * width);
}

}  // namespace

Tensor KeyValues::keys_there() const { return first_places(keys, length); }

Tensor KeyValues::values_there() const { return first_places(values, length); }

void KeyValues::append(const KeyValues& more) {
  check(!scope().gradients, "key/value cache: it has no gradients; set scope().gradients = false");
  put_behind(keys, length, more.keys_there());
  put_behind(values, length, more.values_there());
  length += more.length;
}

void KeyValues::select(std::span<const int64_t> rows) {
  keys = rows_of(keys, rows, length, keys.dim(1));
  values = rows_of(values, rows, length, values.dim(1));
}

KeyValueCache::KeyValueCache(int64_t rows) : sources_(counted(rows)) {}

void KeyValueCache::select(std::span<const int64_t> rows) {
  std::vector<int64_t> sources;
  for (const int64_t row : rows) {
    check(row >= 0 && row < this->rows(), "key/value cache: no row {} of {}", row, this->rows());
    sources.push_back(sources_[static_cast<size_t>(row)]);
  }
  const std::vector<int64_t> unmoved = counted(this->rows());
  if (!std::equal(rows.begin(), rows.end(), unmoved.begin(), unmoved.end()))
    for (auto& [attention, kept] : past_) kept.select(rows);
  if (sources != sources_)  // hypotheses of one source share what was made of it
    for (auto& [attention, made] : memory_) made.select(rows);
  sources_ = std::move(sources);
}

}  // namespace heed::inline HEED_REAL
