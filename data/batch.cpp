// Defines data/batch.h: padding, then which examples a batch has.
#include "data/batch.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "core/check.h"
#include "core/standard_ops.h"

namespace heed {

using Member = std::vector<int32_t> Example::*;

// Pads one member of every example: (B, T) and (B).
static void pad(Examples examples, Member member, int32_t padding, Ids& ids, Ids* lengths) {
  size_t longest = 0;
  for (const Example* example : examples) longest = std::max(longest, (example->*member).size());
  ids = Ids::empty({std::ssize(examples), static_cast<int64_t>(longest)});
  if (lengths) *lengths = Ids::empty({std::ssize(examples)});
  int32_t* out = ids.mutable_data();
  for (size_t b = 0; b < examples.size(); ++b, out += longest) {
    const std::vector<int32_t>& values = examples[b]->*member;
    std::fill(std::copy(values.begin(), values.end(), out), out + longest, padding);
    if (lengths) lengths->mutable_data()[b] = static_cast<int32_t>(values.size());
  }
}

void collate_tokens(Examples examples, ModelKind framing, Batch& batch) {
  if (framing == ModelKind::seq2seq || !examples[0]->source.empty())
    pad(examples, &Example::source, 0, batch.source, &batch.source_lengths);
  pad(examples, &Example::input, 0, batch.input, &batch.input_lengths);
  pad(examples, &Example::target, ignored, batch.target, nullptr);
  if (framing == ModelKind::classifier && batch.target.dim(1) == 1)
    batch.target = batch.target.reshape({batch.target.dim(0)});
}

void Batches::write(Examples examples, Batch& batch) const {
  dataset_->collate(examples, framing_, batch);
  batch.targets = batch.tokens = 0;
  for (int64_t i = 0; i < batch.target.size(); ++i) batch.targets += batch.target[i] != ignored;
  for (int64_t b = 0; b < batch.input_lengths.size(); ++b) batch.tokens += batch.input_lengths[b];
}

Batches::Batches(const Dataset& dataset, ModelKind framing, int64_t batch_size, int64_t bucketing)
    : dataset_(&dataset), framing_(framing), batch_size_(batch_size), bucketing_(bucketing) {
  check(dataset.size >= 1, "batches: the dataset is empty");
  check(batch_size >= 1 && bucketing >= 1,
        "batches: batch size {} and bucketing {} must be positive", batch_size, bucketing);
}

Batches Batches::shuffled(const Dataset& dataset, ModelKind framing, int64_t batch_size,
                          uint64_t seed, int64_t bucketing) {
  Batches batches(dataset, framing, batch_size, bucketing);
  batches.shuffle_.emplace(dataset.size, seed);
  batches.shuffle_batches_.emplace(bucketing, ~seed);  // another stream
  return batches;
}

Batches Batches::in_order(const Dataset& dataset, ModelKind framing, int64_t batch_size) {
  return Batches(dataset, framing, batch_size, 1);
}

Examples Batches::examples(int64_t i) {
  check(i >= 0 && (shuffle_ || i < count()), "batches: there is no batch {} of {}", i, count());
  if (i / bucketing_ != group_) load(i / bucketing_);
  const int64_t first = (shuffle_ ? (*shuffle_batches_)(i) : 0) * batch_size_;
  const int64_t size = std::min(std::ssize(order_) - first, batch_size_);
  return Examples(order_).subspan(static_cast<size_t>(first), static_cast<size_t>(size));
}

// Sorted by length, shortest first, otherwise in order.
static auto key(const Example* each) {
  return std::tuple(each->input.size(), each->source.size(), each->positions, each);
}
static bool is_before(const Example* a, const Example* b) { return key(a) < key(b); }

void Batches::load(int64_t group) {
  int64_t count = batch_size_ * bucketing_;
  const int64_t first = group * count;
  if (!shuffle_) count = std::min(count, dataset_->size - first);
  examples_.resize(static_cast<size_t>(count));
  order_.resize(examples_.size());
  for (int64_t i = first; i < first + count; ++i) {
    Example& example = examples_[static_cast<size_t>(i - first)];
    dataset_->get(shuffle_ && dataset_->at_hand == 0 ? (*shuffle_)(i) : i, example);
    if (shuffle_ && dataset_->augment) dataset_->augment(i, example);
  }
  // Every example gets the largest capacity, so that later ones fit without allocating.
  for (const Member member : {&Example::source, &Example::input, &Example::target}) {
    size_t most = 0;
    for (const Example& example : examples_) most = std::max(most, (example.*member).capacity());
    for (Example& example : examples_) (example.*member).reserve(most);
  }
  std::iota(order_.begin(), order_.end(), examples_.data());
  if (bucketing_ > 1) std::sort(order_.begin(), order_.end(), is_before);
  group_ = group;
}

}  // namespace heed
