#include "optim/half_exchange.h"

#include <algorithm>

#include "core/parallel_for.h"

namespace heed::inline HEED_REAL {
namespace {

constexpr int64_t piece_size = Ranks::largest_message / sizeof(real);  // in elements

}  // namespace

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

}  // namespace heed::inline HEED_REAL
