#include "optim/rank_slices.h"

#include <algorithm>

namespace heed::inline HEED_REAL {
namespace {

int partner_at(int rank, size_t level) { return rank ^ (1 << level); }

}  // namespace

RankSlices::RankSlices(int64_t size, int64_t grain)
    : ranks_(Ranks::current),
      rank_(rank()),
      count_(rank_count()),
      size_(size),
      grain_(grain),
      kept_(halving(rank_)) {
  for (size_t level = 0; level + 1 < kept_.size(); ++level)
    halves_.emplace_back(*ranks_, partner_at(rank_, level), kept_[level + 1], other_half(level));
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
  for (HalfExchange& half : halves_) half.finish(array);
}

void RankSlices::mark_final(real* array, ElementRange range) {
  halves_.front().mark_final(array, range);
}
void RankSlices::advance(real* array) { halves_.front().advance(array); }

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
