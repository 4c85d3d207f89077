#include <bit>
#include <cmath>
#include <cstdlib>

#include "core/parallel_for.h"
#include "nn/positional.h"
#include "nn/score_bias.h"

namespace heed::inline HEED_REAL {

std::vector<double> alibi_slopes(int64_t heads) {
  check(heads >= 1, "alibi: expected at least 1 head, got {}", heads);
  const auto below = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(heads)));
  std::vector<double> slopes;
  for (int64_t h = 1; h <= below; ++h)
    slopes.push_back(std::exp2(-8.0 * static_cast<double>(h) / static_cast<double>(below)));
  for (int64_t h = 1; static_cast<int64_t>(slopes.size()) < heads; h += 2)
    slopes.push_back(std::exp2(-4.0 * static_cast<double>(h) / static_cast<double>(below)));
  return slopes;
}

AlibiBias::AlibiBias(int64_t heads) : slopes_(alibi_slopes(heads)) {}

Tensor AlibiBias::operator()(int64_t queries, int64_t keys) const {
  const Shape shape{static_cast<int64_t>(slopes_.size()), queries, keys};
  const auto compute = [&] {
    Tensor table = Tensor::empty(shape);
    real* to = table.mutable_data();
    parallel_for(shape[0] * queries, chunk_rows(keys), [&](int64_t first, int64_t last) {
      for (int64_t row = first; row < last; ++row) {
        const double slope = slopes_[static_cast<size_t>(row / queries)];
        const int64_t i = row % queries;
        for (int64_t j = 0; j < keys; ++j)
          to[row * keys + j] =
              static_cast<real>(-slope * static_cast<double>(std::abs(i + keys - queries - j)));
      }
    });
    return table;
  };
  return table_.get([&](const Tensor& table) { return table.shape() == shape; }, compute);
}

const PositionalRule positional_encodings::alibi = {
    .name = "alibi",
    .score_bias = [](int64_t heads, bool, const PositionalOptions&) -> std::unique_ptr<ScoreBias> {
      return std::make_unique<AlibiBias>(heads);
    }};

}  // namespace heed::inline HEED_REAL
