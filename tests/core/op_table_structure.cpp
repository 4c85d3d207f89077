// The op table: operations on positions and segments: rotary, segment_softmax, segment_sum.
#include <doctest/doctest.h>

#include <cmath>

#include "op_table.h"

namespace heed::inline HEED_REAL::testing {
namespace {

// RoFormer's equation 34, column by column.
double rotated(const Array& x, const Index& i, int64_t heads, const RotaryOptions& options) {
  const int64_t width = x.shape[2] / heads, column = i[2] % width, before = i[2] - column;
  const bool neighbours = options.layout == RotaryLayout::interleaved;
  const int64_t pair = neighbours ? column / 2 : column % (width / 2);
  const int64_t first = before + (neighbours ? 2 * pair : pair);
  const int64_t second = before + (neighbours ? 2 * pair + 1 : pair + width / 2);
  const double position = static_cast<double>(options.first_position + i[1]);
  const double angle = position * std::pow(options.base, -2.0 * static_cast<double>(pair) /
                                                             static_cast<double>(width));
  const double a = x(i.with(2, first)), b = x(i.with(2, second));
  return i[2] == first ? a * std::cos(angle) - b * std::sin(angle)
                       : a * std::sin(angle) + b * std::cos(angle);
}

TEST_CASE("op table: rotary") {
  const auto row = [](const Shape& shape, int64_t heads, const RotaryOptions& options,
                      std::vector<Shape> large = {}) {
    const bool neighbours = options.layout == RotaryLayout::interleaved;
    return OpRow{
        .name = fmt::format("rotary: {} heads of {}, {}, base {}, from position {}", heads, shape,
                            neighbours ? "interleaved" : "halves", options.base,
                            options.first_position),
        .inputs = {shape},
        .result = shape,
        .op = [=](Tensors x) { return rotary(x[0], heads, options); },
        .definition = [=](Arrays x, const Index& i) { return rotated(x[0], i, heads, options); },
        .large = std::move(large),
        .misuses = {MISUSE(rotary(Tensor::zeros({2, 3, 6}), 2)),
                    MISUSE(rotary(Tensor::zeros({2, 3, 6}), 4)),
                    MISUSE(rotary(Tensor::zeros({2, 3, 6}), 0)),
                    MISUSE(rotary(Tensor::zeros({3, 6}), 1)),
                    MISUSE(rotary(Tensor::zeros({2, 3, 6}), 1, {.base = 0}))}};
  };
  for (const RotaryLayout layout : {RotaryLayout::interleaved, RotaryLayout::halves})
    check_rows(std::vector<OpRow>{
        row({2, 3, 8}, 2, {.layout = layout}, {{3, 50, 256}}),
        row({2, 3, 6}, 1, {.layout = layout, .first_position = 5}, {{2, 900, 38}}),
        row({1, 4, 6}, 3, {.layout = layout, .base = 2.5}),
        row({2, 2, 4}, 1, {.layout = layout, .first_position = 100000}),
        row({2, 1, 36}, 1, {.layout = layout, .base = 10, .first_position = -3}),
    });
}

// The entries of the segment that entry e of `ids` belongs to, weighted by f(entry).
template <class F>
double sum_over_segment(const Ids& ids, int32_t segment, F f) {
  return sum_over(ids.size(), [&](int64_t e) { return ids[e] == segment ? f(e) : 0; });
}

struct SegmentCase {
  Ids ids;
  int64_t segments;
  Shape shape, large;

  // For an x of any number of entries.
  Ids ids_for(const Shape& x) const {
    return x[0] == ids.size() ? ids : random_ids({x[0]}, segments);
  }
  std::vector<std::function<void()>> misuses(Tensor (*op)(const Tensor&, const Ids&,
                                                          int64_t)) const {
    return {[=] {
              op(Tensor::zeros({2, 3}), Ids::from({2}, {0, 4}), 4);
            },
            [=] {
              op(Tensor::zeros({2, 3}), Ids::from({2}, {-1, 0}), 4);
            },
            [=] {
              op(Tensor::zeros({2, 3}), Ids::from({3}, {0, 1, 2}), 4);
            },
            [=] {
              op(Tensor::zeros({2, 3}), Ids::from({2, 1}, {0, 1}), 4);
            },
            [=] {
              op(Tensor::zeros({0, 3}), Ids::empty({0}), -1);
            },
            [=] { op(Tensor::scalar(1), Ids::from({1}, {0}), 4); }};
  }
};

const std::vector<SegmentCase>& segment_cases() {
  static const std::vector<SegmentCase> cases{
      {Ids::from({7}, {3, 0, 3, 5, 0, 3, 1}), 6, {7, 2}, {6000, 3}},     // 2 and 4 are empty
      {Ids::from({4}, {0, 0, 0, 0}), 1, {4, 3}, {40, 1000}},             // everything in one
      {Ids::from({3}, {2, 1, 0}), 3, {3, 1}, {700, 90}},                 // one entry each
      {Ids::from({5}, {8000, 0, 8000, 1, 7999}), 8001, {5}, {30000}},    // hardly any
      {Ids::from({6}, {1, 1, 0, 1, 0, 0}), 3, {6, 2, 3}, {90, 60, 11}},  // further axes
  };
  return cases;
}

TEST_CASE("op table: segment_softmax") {
  for (const SegmentCase& c : segment_cases())
    check_rows(std::vector<OpRow>{
        {.name = fmt::format("segment_softmax: {} in {} segments", c.shape, c.segments),
         .inputs = {c.shape},
         .result = c.shape,
         .op =
             [&](Tensors x) { return segment_softmax(x[0], c.ids_for(x[0].shape()), c.segments); },
         .definition =
             [&](Arrays x, const Index& i) {
               const Ids ids = c.ids_for(x[0].shape);
               const auto power = [&](int64_t e) { return std::exp(x[0](i.with(0, e))); };
               return power(i[0]) / sum_over_segment(ids, ids[i[0]], power);
             },
         .low = -5,
         .high = 5,
         .large = {c.large},
         .misuses = c.misuses(segment_softmax)}});
}

TEST_CASE("op table: segment_sum") {
  for (const SegmentCase& c : segment_cases())
    check_rows(std::vector<OpRow>{
        {.name = fmt::format("segment_sum: {} in {} segments", c.shape, c.segments),
         .inputs = {c.shape},
         .result = c.shape.with(0, c.segments),
         .op = [&](Tensors x) { return segment_sum(x[0], c.ids_for(x[0].shape()), c.segments); },
         .definition =
             [&](Arrays x, const Index& i) {
               return sum_over_segment(c.ids_for(x[0].shape), static_cast<int32_t>(i[0]),
                                       [&](int64_t e) { return x[0](i.with(0, e)); });
             },
         .large = {c.large},
         .misuses = c.misuses(segment_sum)}});
}

}  // namespace
}  // namespace heed::inline HEED_REAL::testing
