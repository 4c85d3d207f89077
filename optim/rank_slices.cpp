#include "optim/rank_slices.h"

#include <algorithm>

#include "core/parallel_for.h"

namespace heed::inline HEED_REAL {

constexpr int64_t piece_size = Ranks::largest_message / sizeof(real);  // in elements

static int partner_at(int rank, size_t level) { return rank ^ (1 << level); }

void HalfExchange::Half::reset() {
  missing.assign(static_cast<size_t>((range.size() + piece_size - 1) / piece_size), 0);
  for (size_t i = 0; i < missing.size(); ++i) missing[i] = piece(i).size();
}

template <class F>
void HalfExchange::Half::mark_final(ElementRange elements, F ready) {
  const int64_t last = std::min(elements.last, range.last);
  for (int64_t at = std::max(elements.first, range.first); at < last;) {
    const auto i = static_cast<size_t>((at - range.first) / piece_size);
    const int64_t end = std::min(last, piece(i).last);
    if ((missing[i] -= end - at) == 0) ready(i);
    at = end;
  }
}

template <class F>
void HalfExchange::Half::mark_rest_final(F ready) {
  for (size_t i = 0; i < missing.size(); ++i)
    if (missing[i] > 0) ready(i);
}

ElementRange HalfExchange::Half::piece(size_t i) const {
  const int64_t first = range.first + static_cast<int64_t>(i) * piece_size;
  return {first, std::min(first + piece_size, range.last)};
}

HalfExchange::HalfExchange(Ranks& ranks, int partner, ElementRange own, ElementRange other)
    : ranks_(ranks), partner_(partner), own_{own}, other_{other} {
  own_.reset();
  other_.reset();
}

void HalfExchange::send(const real* array, size_t piece) {
  const ElementRange range = other_.piece(piece);
  sent_.push_back(
      ranks_.send(partner_, static_cast<int>(piece), bytes_of(array + range.first, range.size())));
}

void HalfExchange::receive() {
  for (; begun_ < std::min(final_pieces_.size(), added_ + in_.size()); ++begun_) {
    const size_t piece = final_pieces_[begun_];
    auto& [message, buffer] = in_[begun_ % in_.size()];
    buffer.resize(static_cast<size_t>(own_.piece(piece).size()));
    message = ranks_.receive(partner_, static_cast<int>(piece),
                             std::as_writable_bytes(std::span(buffer)));
  }
}

void HalfExchange::add_received(real* array) {
  const std::vector<real>& from = in_[added_ % in_.size()].buffer;
  real* const to = array + own_.piece(final_pieces_[added_]).first;
  parallel_for(std::ssize(from), chunk_elements, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) to[i] += from[static_cast<size_t>(i)];
  });
  ++added_;
}

void HalfExchange::mark_final(real* array, ElementRange range) {
  other_.mark_final(range, [&](size_t piece) { send(array, piece); });
  own_.mark_final(range, [&](size_t piece) { final_pieces_.push_back(piece); });
}

void HalfExchange::advance(real* array) {
  for (receive(); added_ < begun_ && ranks_.done(in_[added_ % in_.size()].message); receive())
    add_received(array);
  while (arrived_ < sent_.size() && ranks_.done(sent_[arrived_])) ++arrived_;
}

void HalfExchange::finish(real* array) {
  // All is sent before this waits for anything: the partner may receive in another order.
  other_.mark_rest_final([&](size_t piece) { send(array, piece); });
  own_.mark_rest_final([&](size_t piece) { final_pieces_.push_back(piece); });
  for (receive(); added_ < final_pieces_.size(); receive()) {
    ranks_.wait(in_[added_ % in_.size()].message);
    add_received(array);
  }
  for (; arrived_ < sent_.size(); ++arrived_) ranks_.wait(sent_[arrived_]);
  sent_.clear();
  final_pieces_.clear();
  arrived_ = begun_ = added_ = 0;
  own_.reset();
  other_.reset();
}

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

void RankSlices::copy(real* slice, real* whole, bool to_whole) const {
  const auto pass = [&](int other, real* part, int64_t size, bool is_sent) {
    if (is_sent) return ranks_->exchange(other, bytes_of(part, size), {});
    ranks_->exchange(other, {}, writable_bytes_of(part, size));
  };
  const ElementRange own = kept_.back();
  if (rank_ > 0) return pass(0, slice, own.size(), to_whole);
  real* const of_rank_0 = whole + own.first;
  std::copy_n(to_whole ? slice : of_rank_0, own.size(), to_whole ? of_rank_0 : slice);
  for (int other = 1; other < count_; ++other) {
    const ElementRange part = halving(other).back();
    pass(other, whole + part.first, part.size(), !to_whole);
  }
}

}  // namespace heed::inline HEED_REAL
