#include "apps/inference/padded.h"

#include <algorithm>
#include <numeric>

#include "core/check.h"
#include "core/ranks.h"

namespace heed {

Padded padded(std::span<const Sequence> sequences, std::span<const size_t> chosen) {
  size_t longest = 0;
  for (size_t i : chosen) longest = std::max(longest, sequences[i].size());
  const auto count = static_cast<int64_t>(chosen.size()), width = static_cast<int64_t>(longest);
  Padded batch{Ids::full({count, width}, 0), Ids::empty({count})};
  for (int64_t row = 0; row < count; ++row) {
    const Sequence& sequence = sequences[chosen[static_cast<size_t>(row)]];
    check(!sequence.empty(), "a model cannot read an empty sequence");
    std::copy(sequence.begin(), sequence.end(), batch.ids.mutable_data() + row * width);
    batch.lengths.mutable_data()[row] = static_cast<int32_t>(sequence.size());
  }
  return batch;
}

void for_each_batch(std::span<const Sequence> sequences, int64_t batch_size,
                    const std::function<void(std::span<const size_t>)>& f) {
  std::vector<size_t> order(sequences.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return sequences[a].size() < sequences[b].size(); });
  const auto step = static_cast<size_t>(std::max<int64_t>(1, batch_size));
  const RankShare own(static_cast<int64_t>((order.size() + step - 1) / step));
  for (int64_t i = own.first; i < own.last; ++i) {
    const size_t first = static_cast<size_t>(i) * step;
    f(std::span(order).subspan(first, std::min(step, order.size() - first)));
  }
}

}  // namespace heed
