// Defines nn/forms/score_bias.h: linear biases, then learned ones for buckets of distances.
#include "nn/forms/score_bias.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

#include "core/ops.h"
#include "core/parallel_for.h"
#include "nn/forms/positional.h"
#include "nn/init.h"

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

int64_t relative_bucket(int64_t offset, int64_t buckets, int64_t max_distance, bool bidirectional) {
  int64_t first = 0, distance = std::max<int64_t>(0, -offset);
  if (bidirectional) {
    buckets /= 2;
    first = offset > 0 ? buckets : 0;
    distance = std::abs(offset);
  }
  const int64_t exact = buckets / 2;
  if (distance < exact) return first + distance;
  // Logarithms to base 2: the published sizes, powers of two, then meet their bounds exactly.
  const auto doublings = [exact](int64_t n) {
    return std::log2(static_cast<double>(n) / static_cast<double>(exact));
  };
  const double fraction = doublings(distance) / doublings(max_distance);
  const auto further = static_cast<int64_t>(fraction * static_cast<double>(buckets - exact));
  return first + std::min(exact + further, buckets - 1);
}

RelativeBias::RelativeBias(int64_t heads, int64_t buckets, int64_t max_distance, bool bidirectional,
                           double std)
    : weight(this, "weight", normal_parameter({buckets, heads}, std)),
      max_distance_(max_distance),
      bidirectional_(bidirectional) {
  const int64_t exact = buckets / (bidirectional ? 4 : 2);
  check(exact >= 1 && max_distance > exact,
        "relative bias: {} buckets up to distance {} leave none for single distances, or none for "
        "larger ones",
        buckets, max_distance);
}

Tensor RelativeBias::operator()(int64_t queries, int64_t keys) const {
  const Shape shape{queries, keys};
  const auto compute = [&] {
    std::vector<int32_t> buckets;  // of the offsets 1 - Tk … Tq - 1
    for (int64_t offset = 1 - keys; offset < queries; ++offset)
      buckets.push_back(static_cast<int32_t>(
          relative_bucket(offset, weight.dim(0), max_distance_, bidirectional_)));
    Ids of_pairs = Ids::empty(shape);
    int32_t* const to = of_pairs.mutable_data();
    parallel_for(queries, chunk_rows(keys), [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i)  // the offsets of query i begin at Tq - Tk - i
        std::copy_n(buckets.begin() + (queries - 1 - i), keys, to + i * keys);
    });
    return of_pairs;
  };
  const Ids of_pairs = buckets_.get([&](const Ids& ids) { return ids.shape() == shape; }, compute);
  return permute(embedding(weight, of_pairs), {2, 0, 1});
}

const PositionalRule positional_encodings::relative = {
    .name = "relative",
    .score_bias = [](int64_t heads, bool causal,
                     const PositionalOptions& o) -> std::unique_ptr<ScoreBias> {
      return std::make_unique<RelativeBias>(heads, o.buckets, o.max_distance, !causal);
    },
    .validate =
        [](const PositionalOptions& o) {
          check_input(o.buckets % 2 == 0,
                      "`positional.buckets` = {} must be even: one half for each direction",
                      o.buckets);
          check_input(o.max_distance > o.buckets / 2,
                      "`positional.max_distance` = {} must exceed the {} distances that have "
                      "buckets of their own (half of `positional.buckets`)",
                      o.max_distance, o.buckets / 2);
        }};

}  // namespace heed::inline HEED_REAL
