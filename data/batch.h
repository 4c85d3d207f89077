// Batches: examples padded to the longest. B examples, T inputs, Ts source tokens.
//
// Padding is given by lengths, not by a token: positions past the length of a row hold id 0 as
// inputs, 0 as features, and -1 as targets, which the loss ignores. The edges of all examples are
// in one list. Padding has no edges.
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
  Ids source, source_lengths;  // (B, Ts), (B); empty unless seq2seq
  Ids input, input_lengths;    // (B, T), (B)
  Ids target;                  // (B, T); classifier: (B)
  int64_t targets = 0;         // number of targets other than -1
  int64_t tokens = 0;          // number of inputs without padding: tokens or feature vectors

  // (B, T, F): replaces `source`, or the `input` of a classifier, whose lengths remain.
  Tensor features;
  Ids sender, receiver;  // (E): position t of row b is b · T + t, padding included
  Tensor edge_features;  // (E, format.edge_features)
};

// Batches of a dataset, which must outlive them. A batch depends only on its position. After a few
// calls, get() allocates nothing.
class Batches {
 public:
  // For training: shuffled, endless, all batches full; epochs run into each other. With `bucketing`
  // > 1 the examples of that many batches are sorted by length before they are cut into batches,
  // whose order is shuffled. Throws Error for an empty dataset or sizes below 1.
  static Batches shuffled(const Dataset& dataset, Framing framing, int64_t batch_size,
                          uint64_t seed, int64_t bucketing = 1);
  // For evaluation: every example once, in order. The last batch may be smaller.
  static Batches in_order(const Dataset& dataset, Framing framing, int64_t batch_size);

  // Number of batches in a pass over the dataset, with a last, smaller one.
  int64_t count() const { return (dataset_->size() + batch_size_ - 1) / batch_size_; }
  // Writes batch `position` ≥ 0; in order, position < count(). Throws Error otherwise.
  void get(int64_t position, Batch& batch) { get(position, {0, 1}, batch); }
  // The same for one of several shards of consecutive examples; a batch has at least as many
  // examples as shards. Each is padded to its own longest.
  struct Shard {
    int64_t index, count;
  };
  void get(int64_t position, Shard shard, Batch& batch);

 private:
  Batches(const Dataset& dataset, Framing framing, int64_t batch_size, int64_t bucketing);
  void load(int64_t group);
  void write_inputs(std::span<const size_t> rows, Batch& batch) const;
  void sort_by_length();

  const Dataset* dataset_;
  Framing framing_;
  ExampleFormat format_;
  int64_t batch_size_, bucketing_;
  std::optional<Shuffle> shuffle_, shuffle_batches_;
  int64_t group_ = -1;  // the loaded batches are [group · bucketing, (group + 1) · bucketing)
  std::vector<int64_t> indices_;  // of the loaded examples in the dataset
  std::vector<Example> examples_;
  std::vector<size_t> order_;  // of examples_
};

}  // namespace heed
