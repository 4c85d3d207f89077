#include "nn/score_bias.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "core/ops.h"
#include "core/parallel.h"
#include "nn/init.h"

namespace heed::inline HEED_REAL {

std::vector<double> alibi_slopes(int64_t heads) {
  check(heads >= 1, "alibi: {} heads", heads);
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
  if (table_ && table_.shape() == shape) return table_;
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
  table_ = table;
  return table_;
}

int64_t relative_bucket(int64_t gap, int64_t buckets, int64_t max_distance, bool bidirectional) {
  int64_t first = 0, distance = std::max<int64_t>(0, -gap);
  if (bidirectional) {
    buckets /= 2;
    first = gap > 0 ? buckets : 0;
    distance = std::abs(gap);
  }
  const int64_t exact = buckets / 2;
  if (distance < exact) return first + distance;
  // To the base of two, so that the published sizes (powers of two) meet their bounds exactly.
  const auto doublings = [exact](int64_t n) {
    return std::log2(static_cast<double>(n) / static_cast<double>(exact));
  };
  const double share = doublings(distance) / doublings(max_distance);
  const auto further = static_cast<int64_t>(share * static_cast<double>(buckets - exact));
  return first + std::min(exact + further, buckets - 1);
}

RelativeBias::RelativeBias(int64_t heads, int64_t buckets, int64_t max_distance, bool bidirectional,
                           double std)
    : max_distance_(max_distance), bidirectional_(bidirectional) {
  const int64_t exact = buckets / (bidirectional ? 4 : 2);
  check(exact >= 1 && max_distance > exact,
        "relative bias: {} buckets up to distance {} leave none for single distances, or none for "
        "the others",
        buckets, max_distance);
  weight = normal_parameter({buckets, heads}, std);
  add("weight", weight);
}

Tensor RelativeBias::operator()(int64_t queries, int64_t keys) const {
  const Shape shape{queries, keys};
  if (!buckets_ || buckets_.shape() != shape) {
    std::vector<int32_t> of_gap;  // of gaps 1 - Tk … Tq - 1: their logarithms are taken once
    for (int64_t gap = 1 - keys; gap < queries; ++gap)
      of_gap.push_back(
          static_cast<int32_t>(relative_bucket(gap, weight.dim(0), max_distance_, bidirectional_)));
    buckets_ = Ids::empty(shape);
    int32_t* const to = buckets_.data();
    parallel_for(queries, chunk_rows(keys), [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i)  // the gaps of query i begin at Tq - Tk - i
        std::copy_n(of_gap.begin() + (queries - 1 - i), keys, to + i * keys);
    });
  }
  return permute(embedding(weight, buckets_), {2, 0, 1});
}

namespace {

// The senders of the edges into each place, one list after the other.
struct Incoming {
  std::vector<int64_t> first;  // of place p: [first[p], first[p + 1])
  std::vector<int64_t> senders;
};

Incoming incoming(const Edges& edges, int64_t batch, int64_t time) {
  const int64_t places = batch * time, count = edges.sender.size();
  edges.check_fits("graph distances", batch, time);
  Incoming in{std::vector<int64_t>(static_cast<size_t>(places) + 1),
              std::vector<int64_t>(static_cast<size_t>(count))};
  for (int64_t e = 0; e < count; ++e) {
    ++in.first[static_cast<size_t>(edges.receiver[e]) + 1];
  }
  for (size_t p = 0; p < static_cast<size_t>(places); ++p) in.first[p + 1] += in.first[p];
  std::vector<int64_t> next = in.first;
  for (int64_t e = 0; e < count; ++e)
    in.senders[static_cast<size_t>(next[static_cast<size_t>(edges.receiver[e])]++)] =
        edges.sender[e];
  return in;
}

}  // namespace

Ids graph_distances(const Edges& edges, int64_t batch, int64_t time, int64_t most) {
  check(most >= 0 && most < std::numeric_limits<int32_t>::max(),
        "graph distances: {} is no greatest distance", most);
  if (scope().shapes_only) return Ids::empty({batch, time, time});
  Ids distances = Ids::full({batch, time, time}, static_cast<int32_t>(most + 1));
  const Incoming in = incoming(edges, batch, time);
  std::vector<int64_t> reached;
  for (int64_t place = 0; place < batch * time; ++place) {  // breadth first, against the edges
    const int64_t example = place / time * time;            // its first place
    int32_t* const to_place = distances.data() + place * time - example;
    to_place[place] = 0;
    reached.assign(1, place);
    for (size_t n = 0; n < reached.size() && to_place[reached[n]] < most; ++n) {
      const auto p = static_cast<size_t>(reached[n]);
      for (int64_t e = in.first[p]; e < in.first[p + 1]; ++e) {
        const int64_t sender = in.senders[static_cast<size_t>(e)];
        if (to_place[sender] <= most) continue;  // by a way at least as short
        to_place[sender] = to_place[reached[n]] + 1;
        reached.push_back(sender);
      }
    }
  }
  return distances;
}

GraphDistanceBias::GraphDistanceBias(int64_t heads, int64_t most)
    : weight(constant_parameter({most + 2, heads}, 0)), most_(most) {
  add("weight", weight);
}

Tensor GraphDistanceBias::operator()(const Edges& edges, int64_t batch, int64_t time) const {
  return permute(embedding(weight, graph_distances(edges, batch, time, most_)), {0, 3, 1, 2});
}

}  // namespace heed::inline HEED_REAL
