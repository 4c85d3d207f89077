// Batches: examples side by side, padded to the longest. B examples, T inputs, Ts source symbols.
//
// Padding is a length, never a symbol: rows are real up to their length; behind it inputs hold id
// 0, features 0, and targets -1, which the loss ignores. Edges are those of all examples in one
// list, none to or from padding.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/ids.h"
#include "core/tensor.h"
#include "data/dataset.h"
#include "data/sampler.h"

namespace heed {

struct Batch {
  Ids source, source_lengths;  // (B, Ts), (B); no array unless seq2seq
  Ids input, input_lengths;    // (B, T), (B)
  Ids target;                  // (B, T); classifier: (B)
  int64_t targets = 0;         // targets that count, those that are not -1
  int64_t tokens = 0;          // inputs that are real: tokens, or places with features

  // (B, T, F): with it there is no `source`, or no `input` for a classifier; the lengths remain.
  Tensor features;
  Ids sender, receiver;  // (E): place t of row b is b · T + t, padding counted
  Tensor edge_features;  // (E, format.edge_features)
};

// Batches of a dataset, which must outlive them. What get() gives is a function of `position`
// alone; after the first few calls it makes no call to the system when lengths are bounded.
class Batches {
 public:
  // For training: shuffled, without end, every batch full; epochs run into each other. With
  // `bucketing` > 1 the examples of so many batches are sorted by length before they are cut, and
  // the order of those batches is shuffled. Throws Error for an empty dataset or sizes below 1.
  static Batches shuffled(const Dataset& dataset, Framing framing, int64_t batch_size,
                          uint64_t seed, int64_t bucketing = 1);
  // For evaluation: every example once, in order; the last batch may be smaller.
  static Batches in_order(const Dataset& dataset, Framing framing, int64_t batch_size);

  // Batches in a pass over the dataset, the last part of one counted as one.
  int64_t count() const { return (dataset_->size() + batch_size_ - 1) / batch_size_; }
  // Writes batch `position` ≥ 0; in order, position < count(). Throws Error otherwise.
  void get(int64_t position, Batch& batch);

 private:
  Batches(const Dataset& dataset, Framing framing, int64_t batch_size, int64_t bucketing);
  void load(int64_t group);
  void write_inputs(std::span<const size_t> rows, Batch& batch) const;
  void reserve_alike();
  void sort_by_length();

  const Dataset* dataset_;
  Framing framing_;
  ExampleFormat format_;
  int64_t batch_size_, bucketing_;
  std::optional<Shuffle> shuffle_, shuffle_batches_;
  int64_t group_ = -1;  // which examples are loaded: those of batches [group · bucketing, …)
  std::vector<int64_t> places_;  // of the examples in the dataset
  std::vector<Example> examples_;
  std::vector<size_t> order_;  // of examples_
};

}  // namespace heed
