#include "optim/rank_slices.h"

#include <algorithm>

#include "core/parallel.h"

namespace heed::inline HEED_REAL {
namespace {

// Elements that are received at once, so that they are still in the cache when they are added.
constexpr int64_t piece = 1 << 18;

int partner_at(int rank, size_t level) { return rank ^ (1 << level); }

// The piece of a range that begins so many elements after its first.
ElementRange piece_at(int64_t begin, ElementRange range) {
  const int64_t first = std::min(range.first + begin, range.last);
  return {first, std::min(first + piece, range.last)};
}

template <class T>
std::span<const std::byte> bytes_of(const T* first, int64_t count) {
  return std::as_bytes(std::span(first, static_cast<size_t>(count)));
}

template <class T>
std::span<std::byte> writable_bytes_of(T* first, int64_t count) {
  return std::as_writable_bytes(std::span(first, static_cast<size_t>(count)));
}

}  // namespace

RankSlices::RankSlices(int64_t size, int64_t grain)
    : ranks_(scope().ranks),
      rank_(rank()),
      count_(rank_count()),
      size_(size),
      grain_(grain),
      kept_(halving(rank_)) {
  if (kept_.size() > 1) received_.resize(static_cast<size_t>(std::min(piece, kept_[1].size())));
}

std::vector<ElementRange> RankSlices::halving(int rank) const {
  std::vector<ElementRange> kept = {{0, size_}};
  for (int distance = 1; distance < count_; distance *= 2) {
    auto [first, last] = kept.back();
    const int64_t grains = (last - first + grain_ - 1) / grain_;
    const int64_t middle = std::min(last, first + (grains + 1) / 2 * grain_);
    (rank & distance ? first : last) = middle;
    kept.push_back({first, last});
  }
  return kept;
}

ElementRange RankSlices::other_half(size_t level) const {
  const ElementRange whole = kept_[level], own = kept_[level + 1];
  return own.first == whole.first ? ElementRange{own.last, whole.last}
                                  : ElementRange{whole.first, own.first};
}

void RankSlices::sum(real* array) {
  for (size_t level = 0; level + 1 < kept_.size(); ++level) {
    const ElementRange own = kept_[level + 1], other = other_half(level);
    for (int64_t begin = 0; begin < std::max(own.size(), other.size()); begin += piece) {
      const ElementRange from = piece_at(begin, own), to = piece_at(begin, other);
      ranks_->exchange(partner_at(rank_, level), bytes_of(array + to.first, to.size()),
                       writable_bytes_of(received_.data(), from.size()));
      real* const sum = array + from.first;
      parallel_for(from.size(), chunk_elements, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) sum[i] += received_[static_cast<size_t>(i)];
      });
    }
  }
}

template <class T>
void RankSlices::gather_each(T* array, int64_t elements) const {
  const auto part = [&](ElementRange range) {
    return ElementRange{(range.first + elements - 1) / elements,
                        (range.last + elements - 1) / elements};
  };
  for (size_t level = kept_.size() - 1; level-- > 0;) {
    const ElementRange own = part(kept_[level + 1]), other = part(other_half(level));
    ranks_->exchange(partner_at(rank_, level), bytes_of(array + own.first, own.size()),
                     writable_bytes_of(array + other.first, other.size()));
  }
}

void RankSlices::gather(real* array) const { gather_each(array, 1); }
void RankSlices::gather_by_grain(double* array) const { gather_each(array, grain_); }

void RankSlices::collect(const real* slice, real* whole) const {
  const ElementRange own = kept_.back();
  if (rank_ > 0) return ranks_->exchange(0, bytes_of(slice, own.size()), {});
  std::copy_n(slice, own.size(), whole + own.first);
  for (int other = 1; other < count_; ++other) {
    const ElementRange part = halving(other).back();
    ranks_->exchange(other, {}, writable_bytes_of(whole + part.first, part.size()));
  }
}

void RankSlices::distribute(const real* whole, real* slice) const {
  const ElementRange own = kept_.back();
  if (rank_ > 0) return ranks_->exchange(0, {}, writable_bytes_of(slice, own.size()));
  std::copy_n(whole + own.first, own.size(), slice);
  for (int other = 1; other < count_; ++other) {
    const ElementRange part = halving(other).back();
    ranks_->exchange(other, bytes_of(whole + part.first, part.size()), {});
  }
}

}  // namespace heed::inline HEED_REAL
