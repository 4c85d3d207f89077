#include "data/batch.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include "core/check.h"
#include "core/parallel_for.h"

namespace heed {

namespace {

using Rows = std::span<const size_t>;
using IdsMember = std::vector<int32_t> Example::*;

// Pads one member of every example: (B, T) and (B).
void pad(const std::vector<Example>& examples, Rows rows, IdsMember member, int32_t padding,
         Ids& ids, Ids* lengths) {
  const auto batch_size = static_cast<int64_t>(rows.size());
  size_t longest = 0;
  for (const size_t row : rows) longest = std::max(longest, (examples[row].*member).size());
  ids = Ids::empty({batch_size, static_cast<int64_t>(longest)});
  if (lengths) *lengths = Ids::empty({batch_size});
  int32_t* out = ids.mutable_data();
  for (size_t b = 0; b < rows.size(); ++b, out += longest) {
    const std::vector<int32_t>& values = examples[rows[b]].*member;
    std::fill(std::copy(values.begin(), values.end(), out), out + longest, padding);
    if (lengths) lengths->mutable_data()[b] = static_cast<int32_t>(values.size());
  }
}

// Pads the features of every example: (B, T, F) and (B).
void pad_features(const std::vector<Example>& examples, Rows rows, int64_t width, Tensor& features,
                  Ids& lengths) {
  const auto batch_size = static_cast<int64_t>(rows.size());
  size_t longest = 0;
  for (const size_t row : rows) longest = std::max(longest, examples[row].features.size());
  features = Tensor::empty({batch_size, static_cast<int64_t>(longest) / width, width});
  lengths = Ids::empty({batch_size});
  real* out = features.mutable_data();
  for (size_t b = 0; b < rows.size(); ++b, out += longest) {
    const std::vector<float>& values = examples[rows[b]].features;
    std::fill(std::copy(values.begin(), values.end(), out), out + longest, real{0});
    lengths.mutable_data()[b] = static_cast<int32_t>(static_cast<int64_t>(values.size()) / width);
  }
}

// Joins one end of every edge: (E). Positions of row b are shifted by b · T.
void join_ends(const std::vector<Example>& examples, Rows rows, IdsMember member, int64_t time,
               Ids& ends) {
  check(static_cast<int64_t>(rows.size()) * time <= std::numeric_limits<int32_t>::max(),
        "batches: {} examples of {} positions are too many to number: make the batch smaller",
        rows.size(), time);
  size_t count = 0;
  for (const size_t row : rows) count += (examples[row].*member).size();
  ends = Ids::empty({static_cast<int64_t>(count)});
  int32_t* out = ends.mutable_data();
  int32_t first = 0;
  for (const size_t row : rows) {
    for (const int32_t position : examples[row].*member) *out++ = first + position;
    first += static_cast<int32_t>(time);
  }
}

// Joins the features of all edges: (E, width).
void join_edge_features(const std::vector<Example>& examples, Rows rows, int64_t edges,
                        int64_t width, Tensor& features) {
  features = Tensor::empty({edges, width});
  real* out = features.mutable_data();
  for (const size_t row : rows)
    out = std::copy(examples[row].edge_features.begin(), examples[row].edge_features.end(), out);
}

// Reserves space for the longest in every member of every example. Allocates nothing once the
// longest example was seen.
void reserve_alike(std::vector<Example>& examples) {
  const auto reserve = [&](auto member) {
    size_t largest = 0;
    for (const Example& each : examples) largest = std::max(largest, (each.*member).capacity());
    for (Example& each : examples) (each.*member).reserve(largest);
  };
  for (const IdsMember member :
       {&Example::source, &Example::input, &Example::target, &Example::sender, &Example::receiver})
    reserve(member);
  reserve(&Example::features);
  reserve(&Example::edge_features);
}

}  // namespace

Batches::Batches(const Dataset& dataset, Framing framing, int64_t batch_size, int64_t bucketing)
    : dataset_(&dataset),
      framing_(framing),
      format_(dataset.format()),
      batch_size_(batch_size),
      bucketing_(bucketing) {
  check(dataset.size() >= 1, "batches: the dataset is empty");
  check(batch_size >= 1 && bucketing >= 1,
        "batches: batch size {} and bucketing {} must be positive", batch_size, bucketing);
}

Batches Batches::shuffled(const Dataset& dataset, Framing framing, int64_t batch_size,
                          uint64_t seed, int64_t bucketing) {
  Batches batches(dataset, framing, batch_size, bucketing);
  batches.shuffle_.emplace(dataset.size(), seed);
  batches.shuffle_batches_.emplace(bucketing, ~seed);
  return batches;
}

Batches Batches::in_order(const Dataset& dataset, Framing framing, int64_t batch_size) {
  return Batches(dataset, framing, batch_size, 1);
}

void Batches::load(int64_t group) {
  int64_t count = batch_size_ * bucketing_;
  const int64_t first = group * count;
  if (!shuffle_) count = std::min(count, dataset_->size() - first);
  examples_.resize(static_cast<size_t>(count));
  indices_.resize(examples_.size());
  std::iota(indices_.begin(), indices_.end(), first);
  if (shuffle_)
    parallel_for(count, 4, [this](int64_t from, int64_t to) {
      for (auto i = static_cast<size_t>(from); i < static_cast<size_t>(to); ++i)
        indices_[i] = (*shuffle_)(indices_[i]);
    });
  for (size_t i = 0; i < examples_.size(); ++i) dataset_->get(indices_[i], examples_[i]);
  reserve_alike(examples_);
  order_.resize(examples_.size());
  std::iota(order_.begin(), order_.end(), 0);
  if (bucketing_ > 1) sort_by_length();
  group_ = group;
}

// Shortest first, stable.
void Batches::sort_by_length() {
  std::sort(order_.begin(), order_.end(), [this](size_t a, size_t b) {
    const Example &left = examples_[a], &right = examples_[b];
    return std::tuple(left.input.size(), left.source.size(), left.features.size(), a) <
           std::tuple(right.input.size(), right.source.size(), right.features.size(), b);
  });
}

void Batches::write_inputs(Rows rows, Batch& batch) const {
  const bool two_sided = framing_ == Framing::seq2seq, has_features = format_.features > 0;
  if (has_features)
    pad_features(examples_, rows, format_.features, batch.features,
                 two_sided ? batch.source_lengths : batch.input_lengths);
  else if (two_sided)
    pad(examples_, rows, &Example::source, 0, batch.source, &batch.source_lengths);
  if (two_sided || !has_features)
    pad(examples_, rows, &Example::input, 0, batch.input, &batch.input_lengths);
  if (!format_.has_edges) return;
  const int64_t time = has_features ? batch.features.dim(1)
                       : two_sided  ? batch.source.dim(1)
                                    : batch.input.dim(1);
  join_ends(examples_, rows, &Example::sender, time, batch.sender);
  join_ends(examples_, rows, &Example::receiver, time, batch.receiver);
  if (format_.edge_features > 0)
    join_edge_features(examples_, rows, batch.sender.size(), format_.edge_features,
                       batch.edge_features);
}

void Batches::get(int64_t position, Shard shard, Batch& batch) {
  check(position >= 0 && (shuffle_ || position < count()), "batches: there is no batch {} of {}",
        position, count());
  if (position / bucketing_ != group_) load(position / bucketing_);
  const int64_t index = shuffle_ ? (*shuffle_batches_)(position) : 0;
  const int64_t begin = index * batch_size_;
  const int64_t size = std::min(std::ssize(order_) - begin, batch_size_);
  check(shard.index >= 0 && shard.index < shard.count && shard.count <= size,
        "batches: there is no shard {} of {} in a batch of {}", shard.index, shard.count, size);
  const int64_t first = size * shard.index / shard.count,
                last = size * (shard.index + 1) / shard.count;
  const Rows rows =
      Rows(order_).subspan(static_cast<size_t>(begin + first), static_cast<size_t>(last - first));
  write_inputs(rows, batch);
  pad(examples_, rows, &Example::target, -1, batch.target, nullptr);
  if (framing_ == Framing::classifier) batch.target = batch.target.reshape({batch.target.dim(0)});
  batch.targets = batch.tokens = 0;
  for (int64_t i = 0; i < batch.target.size(); ++i) batch.targets += batch.target[i] >= 0;
  for (int64_t b = 0; b < batch.input_lengths.size(); ++b) batch.tokens += batch.input_lengths[b];
}

}  // namespace heed
