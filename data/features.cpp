#include "data/features.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/check.h"
#include "core/standard_ops.h"

namespace heed {

namespace {

using Ends = std::vector<int32_t> Example::*;

// Pads the features of every example: (B, T, F) and (B).
void pad_features(Examples examples, int64_t width, Tensor& features, Ids& lengths) {
  size_t longest = 0;
  for (const Example* each : examples) longest = std::max(longest, each->features.size());
  features = Tensor::empty({std::ssize(examples), static_cast<int64_t>(longest) / width, width});
  lengths = Ids::empty({std::ssize(examples)});
  real* out = features.mutable_data();
  for (size_t b = 0; b < examples.size(); ++b, out += longest) {
    const std::vector<float>& values = examples[b]->features;
    std::fill(std::copy(values.begin(), values.end(), out), out + longest, real{0});
    lengths.mutable_data()[b] = static_cast<int32_t>(std::ssize(values) / width);
  }
}

// Pads the numbers of every example with NaN: the shape of the targets.
void pad_numbers(Examples examples, Batch& batch) {
  const int64_t width = batch.target.size() / std::ssize(examples);
  batch.numbers = Tensor::full(batch.target.shape(), std::numeric_limits<real>::quiet_NaN());
  real* out = batch.numbers.mutable_data();
  for (const Example* each : examples) {
    std::copy(each->values.begin(), each->values.end(), out);
    out += width;
  }
}

// Pads the numbers of positions with 0: (B, time).
void pad_positions(Examples examples, int64_t time, Ids& ids) {
  ids = Ids::full({std::ssize(examples), time}, 0);
  int32_t* out = ids.mutable_data();
  for (const Example* each : examples) {
    std::copy(each->position_ids.begin(), each->position_ids.end(), out);
    out += time;
  }
}

// Joins one end of every edge: (E). Positions of row b are shifted by b · T.
void join_ends(Examples examples, Ends member, int64_t time, Ids& ends) {
  check(std::ssize(examples) * time <= std::numeric_limits<int32_t>::max(),
        "batches: {} examples of {} positions are too many to number: make the batch smaller",
        examples.size(), time);
  int64_t count = 0;
  for (const Example* each : examples) count += std::ssize(each->*member);
  ends = Ids::empty({count});
  int32_t* out = ends.mutable_data();
  int32_t first = 0;
  for (const Example* each : examples) {
    for (const int32_t position : each->*member) *out++ = first + position;
    first += static_cast<int32_t>(time);
  }
}

// Joins the features of all edges: (E, width).
void join_edge_features(Examples examples, int64_t edges, int64_t width, Tensor& features) {
  features = Tensor::empty({edges, width});
  real* out = features.mutable_data();
  for (const Example* each : examples) {
    const std::vector<float>& values = each->edge_features;
    out = std::copy(values.begin(), values.end(), out);
  }
}

// The numbers of whole graphs: (B, width).
void join_globals(Examples examples, int64_t width, Tensor& globals) {
  globals = Tensor::empty({std::ssize(examples), width});
  real* out = globals.mutable_data();
  for (const Example* each : examples)
    out = std::copy(each->global.begin(), each->global.end(), out);
}

// Throws Error for numbers that do not fill positions or edges: the batch has no room for the rest.
void check_example(int64_t i, const Example& example, const ExampleFormat& format) {
  const int64_t width = format.features, numbers = std::ssize(example.features);
  check(width == 0 || numbers % width == 0,
        "features: example {} has {} numbers, which do not fill positions of {} features", i,
        numbers, width);
  const int64_t length = width > 0                ? numbers / width
                         : example.source.empty() ? std::ssize(example.input)
                                                  : std::ssize(example.source);
  check(!format.position_ids || std::ssize(example.position_ids) == length,
        "features: example {} has {} position ids for {} positions", i, example.position_ids.size(),
        length);
  const int64_t edges = std::ssize(example.sender), receivers = std::ssize(example.receiver);
  check(edges == receivers, "features: example {} has {} senders and {} receivers", i, edges,
        receivers);
  const int64_t edge_numbers = std::ssize(example.edge_features);
  check(edge_numbers == edges * format.edge_features,
        "features: example {} has {} numbers of edges, but {} edges of {} features", i,
        edge_numbers, edges, format.edge_features);
  check(std::ssize(example.global) == format.global,
        "features: example {} has {} numbers of the graph as a whole, expected {}", i,
        example.global.size(), format.global);
}

void collate_features(Examples examples, const ExampleFormat& format, ModelKind framing,
                      Batch& batch) {
  const bool two_sided = framing == ModelKind::seq2seq;
  collate_tokens(examples, framing, batch);
  if (format.at_positions)
    batch.target =
        batch.target.reshape({std::ssize(examples), batch.target.size() / std::ssize(examples)});
  if (format.numbers) pad_numbers(examples, batch);
  if (format.features > 0) {
    const Ids of_tokens = batch.source_lengths;
    if (!two_sided || !format.two_sources) (two_sided ? batch.source : batch.input) = {};
    pad_features(examples, format.features, batch.features,
                 two_sided ? batch.source_lengths : batch.input_lengths);
    for (int64_t b = 0; two_sided && format.two_sources && b < of_tokens.size(); ++b)
      batch.source_lengths.mutable_data()[b] += of_tokens[b];
  }
  const int64_t time = format.features > 0 ? batch.features.dim(1)
                       : two_sided         ? batch.source.dim(1)
                                           : batch.input.dim(1);
  if (format.position_ids) pad_positions(examples, time, batch.positions);
  if (!format.has_edges) return;
  if (format.global > 0) join_globals(examples, format.global, batch.global);
  join_ends(examples, &Example::sender, time, batch.edges.sender);
  join_ends(examples, &Example::receiver, time, batch.edges.receiver);
  if (format.edge_features > 0)
    join_edge_features(examples, batch.edges.sender.size(), format.edge_features,
                       batch.edges.features);
}

}  // namespace

Dataset feature_dataset(ExampleFormat format, int64_t size,
                        std::function<void(int64_t i, Example& example)> write) {
  auto get = [format, write = std::move(write)](int64_t i, Example& example) {
    write(i, example);
    check_example(i, example, format);
    const int64_t width = format.features;
    example.positions = width > 0 ? std::ssize(example.features) / width : 0;
    if (!format.numbers) return;
    example.target.clear();
    for (const float value : example.values)
      example.target.push_back(std::isnan(value) ? ignored : 0);
  };
  const auto collate = [format](Examples examples, ModelKind framing, Batch& batch) {
    collate_features(examples, format, framing, batch);
  };
  return {size, std::move(get), collate};
}

}  // namespace heed
