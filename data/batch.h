// Batches: examples side by side, padded to the longest. B examples, Ts source tokens, T inputs.
//
// Two examples of `reverse` as a batch, for an encoder-decoder:
//
//   source  7  0 49  ·     input  <bos> 49  0  7  ·     target  49  0  7 <eos>   ·
//          12 12  3  4            <bos>  4  3 12 12              4  3 12   12 <eos>
//
// The target at position t is the token to predict from the inputs up to t. A · is padding: id 0 in
// source and input, whose lengths say where it begins; `ignored` (core/standard_ops.h) in target.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/inputs.h"
#include "data/dataset.h"
#include "data/sampler.h"

namespace heed {

// What a model reads, and what it should predict.
struct Batch : Inputs {
  Ids target;           // (B, T); classifier: (B), or (B, T)
  Tensor numbers;       // of the same shape, NaN for none: where targets are numbers
  int64_t targets = 0;  // number of targets that are not ignored
  int64_t tokens = 0;   // number of inputs without padding
};

// Cuts a dataset, which must outlive them, into batches. Batch i depends on nothing but i, so a run
// that continues at step i sees what it would have seen.
class Batches {
 public:
  Batches(Batches&&) = default;  // not to be copied: order_ points into examples_
  // For training: endless and shuffled, or of a stream in its order, all batches full; epochs run
  // into each other. With bucketing = k > 1 it takes the examples of k batches at a time and sorts
  // them by length, so rows of one batch need little padding. The order of these k batches is
  // shuffled again. Throws Error for an empty dataset or sizes below 1.
  static Batches shuffled(const Dataset& dataset, ModelKind framing, int64_t batch_size,
                          uint64_t seed, int64_t bucketing = 1);
  // For evaluation: every example once, in order. The last batch may be smaller.
  static Batches in_order(const Dataset& dataset, ModelKind framing, int64_t batch_size);

  // The number of batches in one pass over the dataset.
  int64_t count() const { return (dataset_->size + batch_size_ - 1) / batch_size_; }
  // Writes batch i ≥ 0; in order, i < count(). Throws Error otherwise.
  void get(int64_t i, Batch& batch) { write(examples(i), batch); }

  // The examples of batch i, valid until the next call. A shard is a part of them.
  Examples examples(int64_t i);
  // Writes a batch of these examples, padded to the longest of them.
  void write(Examples examples, Batch& batch) const;

 private:
  Batches(const Dataset& dataset, ModelKind framing, int64_t batch_size, int64_t bucketing);
  void load(int64_t group);

  const Dataset* dataset_;
  ModelKind framing_;
  int64_t batch_size_, bucketing_;
  std::optional<Shuffle> shuffle_, shuffle_batches_;
  int64_t group_ = -1;  // the loaded batches are [group · bucketing, (group + 1) · bucketing)
  std::vector<Example> examples_;      // the loaded ones
  std::vector<const Example*> order_;  // examples_, sorted by length if there is bucketing
};

}  // namespace heed
