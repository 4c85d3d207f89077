// The op table: reductions of axes, permutations, slices, concatenation.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/autograd.h"
#include "core/joined.h"
#include "op_table.h"
#include "values.h"

namespace heed::inline HEED_REAL::testing {
namespace {

// Calls use(j) for all indices j of `shape` that agree with i outside `axes`.
template <class Use>
void for_folded(const Shape& shape, const Index& i, const std::vector<int>& axes, bool kept,
                Use use) {
  Index j;
  j.rank = shape.rank();
  Shape folded = shape;
  int from = 0;
  for (int a = 0; a < shape.rank(); ++a) {
    const bool gone = axes.empty() || std::find(axes.begin(), axes.end(), a) != axes.end();
    if (!gone) {
      j = j.with(a, i[from]);
      folded = folded.with(a, 1);
    }
    if (!gone || kept) ++from;
  }
  for (const Index& k : indices(folded)) {
    Index here = j;
    for (int a = 0; a < shape.rank(); ++a) here = here.with(a, j[a] + k[a]);
    use(here);
  }
}

// A reduction, and its definition from all elements that are reduced to one.
struct AxisReduction {
  const char* name;
  Tensor (*op)(const Tensor& x, Axes axes, bool keep);
  double (*definition)(const std::vector<double>& x);
  bool distinct = false;  // the op has kinks where elements are equal
};

double mean_of(const std::vector<double>& x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

const AxisReduction axis_reductions[] = {
    {"sum", sum,
     [](const std::vector<double>& x) { return std::accumulate(x.begin(), x.end(), 0.0); }},
    {"mean", mean, mean_of},
    {"max", max, [](const std::vector<double>& x) { return *std::max_element(x.begin(), x.end()); },
     true},
    {"min", min, [](const std::vector<double>& x) { return *std::min_element(x.begin(), x.end()); },
     true},
    {"var", [](const Tensor& x, Axes axes, bool keep) { return var(x, axes, keep, 0); },
     [](const std::vector<double>& x) {
       double total = 0;
       for (const double v : x) total += (v - mean_of(x)) * (v - mean_of(x));
       return total / static_cast<double>(x.size());
     }},
    {"logsumexp", logsumexp, [](const std::vector<double>& x) {
       double total = 0;
       for (const double v : x) total += std::exp(v);
       return std::log(total);
     }}};

OpRow reduction_row(const AxisReduction& reduction, const Shape& shape,
                    const std::vector<int>& axes, bool keep, const Shape& result,
                    const Shape& large) {
  const auto op = reduction.op;
  return {.name = fmt::format("{}: axes [{}] of {}", reduction.name, joined(axes), shape),
          .inputs = {shape},
          .result = result,
          .op =
              [=](Tensors x) {
                return axes.empty()       ? op(x[0], {}, keep)
                       : axes.size() == 1 ? op(x[0], {axes[0]}, keep)
                                          : op(x[0], {axes[0], axes[1]}, keep);
              },
          .definition =
              [=](Arrays x, const Index& i) {
                std::vector<double> reduced;
                for_folded(x[0].shape, i, axes, keep,
                           [&](const Index& j) { reduced.push_back(x[0](j)); });
                return reduction.definition(reduced);
              },
          .distinct = reduction.distinct,
          .large = {large},
          .misuses = {MISUSE(op(Tensor::zeros({2, 3}), {2}, false)),
                      MISUSE(op(Tensor::zeros({2, 3}), {1, -1}, false))}};
}

TEST_CASE("op table: sum, mean, max, min, var, logsumexp") {
  for (const AxisReduction& r : axis_reductions)
    check_rows(std::vector<OpRow>{
        reduction_row(r, {4, 5}, {}, false, {}, {200, 201}),
        reduction_row(r, {}, {}, false, {}, {40001}),
        reduction_row(r, {4, 5}, {}, true, {1, 1}, {2, 20001}),
        reduction_row(r, {6, 21}, {0}, false, {21}, {900, 40}),   // the gradient of a bias
        reduction_row(r, {6, 5}, {0}, true, {1, 5}, {13, 3001}),  // few rows, many columns
        reduction_row(r, {3, 37}, {1}, false, {3}, {300, 127}),
        reduction_row(r, {3, 37}, {1}, true, {3, 1}, {3, 12001}),
        reduction_row(r, {2, 3, 4}, {1}, false, {2, 4}, {20, 50, 40}),
        reduction_row(r, {2, 3, 4}, {1}, true, {2, 1, 4}, {2, 700, 30}),
        reduction_row(r, {2, 3, 4}, {0, 2}, false, {3}, {9, 600, 9}),
        reduction_row(r, {2, 3, 4}, {0, 2}, true, {1, 3, 1}, {50, 3, 300}),
        reduction_row(r, {2, 3, 4}, {1, 2}, false, {2}, {40, 30, 31}),
        reduction_row(r, {2, 3, 2, 3}, {1, 3}, false, {2, 2}, {5, 17, 20, 23}),
        reduction_row(r, {1, 3, 1}, {2}, false, {1, 3}, {1, 40000, 1}),
    });
}

TEST_CASE("op table: var with a correction of 1") {
  check_rows(std::vector<OpRow>{
      {.name = "var",
       .inputs = {{3, 7}},
       .result = {3},
       .op = [](Tensors x) { return var(x[0], {1}); },
       .definition =
           [](Arrays x, const Index& i) {
             const auto at = [&](int64_t k) { return x[0](i.inserted(1, k)); };
             const double mean = sum_over(7, at) / 7;
             return sum_over(7, [&](int64_t k) { return (at(k) - mean) * (at(k) - mean); }) / 6;
           },
       .misuses = {MISUSE(var(Tensor::zeros({1}))),
                   MISUSE(var(Tensor::zeros({3, 0}), {1}, false, 0))}}});
}

TEST_CASE("max: equal maxima share the gradient equally") {
  // Central differences at a tie of two see half of it on either side: they agree.
  OpRow row = reduction_row(axis_reductions[2], {2, 3}, {1}, false, {2}, {});
  row.large.clear();
  row.values = {{1, 2, 2, 3, 3, -1}};
  check_rows(std::vector<OpRow>{row});
}

TEST_CASE("op table: gather, topk") {
  const Ids ids = Ids::from({2, 2, 3}, {0, 3, 1, 2, 2, 0, 1, 1, 1, 3, 0, 2});
  const auto gathered = [=](Arrays x, const Index& i, int axis) {
    int64_t n = 0;
    for (int a = 0; a < 3; ++a) n = n * ids.dim(a) + i[a];
    return x[0](i.with(axis, ids[n]));
  };
  // The element at a rank in its row.
  const auto ranked = [](const Array& x, const Index& i, int axis, int64_t rank, bool largest) {
    std::vector<double> row;
    for (int64_t k = 0; k < x.shape[axis]; ++k) row.push_back(x(i.with(axis, k)));
    std::sort(row.begin(), row.end());
    return largest ? row[row.size() - 1 - static_cast<size_t>(rank)]
                   : row[static_cast<size_t>(rank)];
  };
  check_rows(std::vector<OpRow>{
      {.name = "gather: the first axis",
       .inputs = {{4, 2, 3}},
       .result = {2, 2, 3},
       .op = [=](Tensors x) { return gather(x[0], 0, ids); },
       .definition = [=](Arrays x, const Index& i) { return gathered(x, i, 0); },
       .misuses = {MISUSE(gather(Tensor::zeros({4, 2, 2}), 0, ids)),
                   MISUSE(gather(Tensor::zeros({4, 2}), 0, ids)),
                   MISUSE(gather(Tensor::zeros({3, 2, 3}), 0, ids)),
                   MISUSE(gather(Tensor::zeros({4, 2, 3}), 3, ids))}},
      {.name = "gather: the last axis",
       .inputs = {{5, 2, 4}},
       .result = {2, 2, 3},
       .op = [=](Tensors x) { return gather(x[0], -1, ids); },
       .definition = [=](Arrays x, const Index& i) { return gathered(x, i, 2); }},
      {.name = "topk",
       .inputs = {{3, 7}},
       .result = {3, 4},
       .op = [](Tensors x) { return topk(x[0], 4).values; },
       .definition = [=](Arrays x, const Index& i) { return ranked(x[0], i, 1, i[1], true); },
       .distinct = true,
       .large = {{300, 100}},
       .misuses = {MISUSE(topk(Tensor::zeros({3, 7}), 8)), MISUSE(topk(Tensor::zeros({3, 7}), -1)),
                   MISUSE(topk(Tensor::zeros({3, 7}), 1, 2))}},
      {.name = "topk: the smallest along the first axis",
       .inputs = {{7, 3}},
       .result = {2, 3},
       .op = [](Tensors x) { return topk(x[0], 2, 0, false).values; },
       .definition = [=](Arrays x, const Index& i) { return ranked(x[0], i, 0, i[0], false); },
       .distinct = true,
       .large = {{100, 300}}}});
}

TEST_CASE("topk: indices; equal elements in their order, NaN as the largest") {
  const Tensor x = Tensor::from({2, 4}, {1, 3, 3, -1, 0, nan, 5, 0});
  const auto ids = [&](bool largest) {
    const TopK top = topk(x, 3, -1, largest);
    CHECK(top.ids.shape() == Shape{2, 3});
    return std::vector<int32_t>(top.ids.data(), top.ids.data() + top.ids.size());
  };
  CHECK(ids(true) == std::vector<int32_t>{1, 2, 0, 1, 2, 0});
  CHECK(ids(false) == std::vector<int32_t>{3, 0, 1, 0, 3, 2});
}

TEST_CASE("logsumexp: large values do not overflow, only -inf gives a zero gradient") {
  CHECK(logsumexp(Tensor::full({4}, 1000)).item() == doctest::Approx(1000 + std::log(4.0)));
  Tensor x = Tensor::full({3}, -infinity);
  x.set_requires_grad();
  const Tensor y = logsumexp(x);
  CHECK(y.item() == -infinity);
  backward(y);
  const Tensor gradient = x.grad();
  for (const real g : gradient.values()) CHECK(g == 0);
  CHECK(logsumexp(Tensor::from({2}, {infinity, 1})).item() == infinity);
}

TEST_CASE("concat, stack, split: lists in braces") {
  const Tensor x = Tensor::full({2, 3}, 1), y = Tensor::full({2, 3}, 2);
  CHECK(concat({x, y}, 0).shape() == Shape{4, 3});
  CHECK(stack({x, y}, 1).shape() == Shape{2, 2, 3});
  CHECK(split(x, {1, 2}, 1)[1].shape() == Shape{2, 2});
}

std::vector<int> all_orders_next(std::vector<int> order) {
  return std::next_permutation(order.begin(), order.end()) ? order : std::vector<int>{};
}

TEST_CASE("op table: permute, transpose") {
  const Shape shape{2, 3, 4, 5};
  for (std::vector<int> order = {0, 1, 2, 3}; !order.empty(); order = all_orders_next(order)) {
    Shape result = shape;
    for (int a = 0; a < 4; ++a) result = result.with(a, shape[order[static_cast<size_t>(a)]]);
    check_rows(std::vector<OpRow>{
        {.name = fmt::format("permute: [{}]", joined(order)),
         .inputs = {shape},
         .result = result,
         .op =
             [=](Tensors x) {
               return permute(x[0], {order[0], order[1], order[2], order[3] - 4});
             },
         .definition =
             [=](Arrays x, const Index& i) {
               Index j = i;
               for (int a = 0; a < 4; ++a) j = j.with(order[static_cast<size_t>(a)], i[a]);
               return x[0](j);
             },
         .large = {{7, 33, 3, 50}},
         .misuses = {MISUSE(permute(Tensor::zeros({2, 3}), {0})),
                     MISUSE(permute(Tensor::zeros({2, 3}), {0, 2})),
                     MISUSE(permute(Tensor::zeros({2, 3}), {1, -1}))}}});
  }
  check_rows(std::vector<OpRow>{
      {.name = "transpose",
       .inputs = {{3, 4}},
       .result = {4, 3},
       .op = [](Tensors x) { return transpose(x[0], 0, 1); },
       .definition = [](Arrays x, const Index& i) { return x[0](i.with(0, i[1]).with(1, i[0])); },
       .large = {{130, 270}},
       .misuses = {MISUSE(transpose(Tensor::zeros({2, 3}), 0, 2))}},
      {.name = "transpose: outer axes",
       .inputs = {{2, 1, 3, 2}},
       .result = {3, 1, 2, 2},
       .op = [](Tensors x) { return transpose(x[0], -2, 0); },
       .definition = [](Arrays x, const Index& i) { return x[0](i.with(0, i[2]).with(2, i[0])); },
       .large = {{30, 1, 40, 37}}},
      {.name = "transpose: an axis with itself",
       .inputs = {{2, 3}},
       .result = {2, 3},
       .op = [](Tensors x) { return transpose(x[0], 1, 1); },
       .definition = [](Arrays x, const Index& i) { return x[0](i); }},
  });
}

TEST_CASE("op table: slice, split") {
  const auto slice_row = [](int axis, int64_t first, int64_t last, const Shape& result,
                            const Shape& large) {
    return OpRow{
        .name = fmt::format("slice: [{}, {}) of axis {}", first, last, axis),
        .inputs = {{3, 4, 5}},
        .result = result,
        .op = [=](Tensors x) { return slice(x[0], axis, first, last); },
        .definition = [=](Arrays x, const Index& i) { return x[0](i.with(axis, i[axis] + first)); },
        .large = {large},
        .misuses = {MISUSE(slice(Tensor::zeros({3, 4, 5}), axis, 2, 7)),
                    MISUSE(slice(Tensor::zeros({3, 4, 5}), axis, 2, 1)),
                    MISUSE(slice(Tensor::zeros({3, 4, 5}), 3, 0, 1))}};
  };
  const auto split_row = [](int axis, std::vector<int64_t> sizes, size_t part,
                            const Shape& result) {
    return OpRow{
        .name = fmt::format("split: part {} of [{}] of axis {}", part, joined(sizes), axis),
        .inputs = {{3, 4, 5}},
        .result = result,
        .op = [=](Tensors x) { return split(x[0], sizes, axis)[part]; },
        .definition =
            [=](Arrays x, const Index& i) {
              int64_t before = 0;
              for (size_t k = 0; k < part; ++k) before += sizes[k];
              return x[0](i.with(axis, i[axis] + before));
            },
        .misuses = {MISUSE(split(Tensor::zeros({9, 9, 9}), sizes, axis)),
                    MISUSE(split(Tensor::zeros({2}), std::array<int64_t, 2>{3, -1}, 0))}};
  };
  check_rows(std::vector<OpRow>{
      slice_row(0, 1, 3, {2, 4, 5}, {4, 100, 200}),
      slice_row(1, 1, 3, {3, 2, 5}, {50, 5, 200}),
      slice_row(-1, 0, 2, {3, 4, 2}, {50, 70, 20}),
      slice_row(-1, 3, 5, {3, 4, 2}, {50, 70, 20}),
      slice_row(1, 2, 2, {3, 0, 5}, {50, 5, 200}),
      split_row(0, {1, 2}, 1, {2, 4, 5}),
      split_row(1, {1, 0, 3}, 2, {3, 3, 5}),
      split_row(-1, {2, 2, 1}, 1, {3, 4, 2}),
  });
}

TEST_CASE("split: the gradients of the parts form that of the whole") {
  check_rows(std::vector<OpRow>{
      {.name = "split: all parts, in another order",
       .inputs = {{2, 6}},
       .result = {2, 6},
       .op =
           [](Tensors x) {
             const auto parts = split(x[0], std::array<int64_t, 3>{1, 2, 3}, 1);
             return concat(std::vector<Tensor>{parts[2], parts[0], parts[1]}, 1);
           },
       .definition = [](Arrays x, const Index& i) { return x[0](i.with(1, (i[1] + 3) % 6)); }}});
}

TEST_CASE("op table: concat, stack") {
  // Which part an index of the joined axis falls into.
  const auto joined = [](Arrays x, const Index& i, int axis) {
    int64_t index = i[axis];
    for (const Array& part : x) {
      if (index < part.shape[axis]) return part(i.with(axis, index));
      index -= part.shape[axis];
    }
    return 0.0;
  };
  check_rows(std::vector<OpRow>{
      {.name = "concat",
       .inputs = {{2, 3}, {1, 3}, {3, 3}},
       .result = {6, 3},
       .op = [](Tensors x) { return concat(x, 0); },
       .definition = [=](Arrays x, const Index& i) { return joined(x, i, 0); },
       .large = {{100, 90}, {1, 90}, {300, 90}},
       .misuses = {MISUSE(concat({}, 0)),
                   MISUSE(concat(std::array{Tensor::zeros({2, 3}), Tensor::zeros({2, 4})}, 0)),
                   MISUSE(concat(std::array{Tensor::zeros({2, 3}), Tensor::zeros({2})}, 0)),
                   MISUSE(concat(std::array{Tensor::zeros({2, 3})}, 2))}},
      {.name = "concat: the last axis",
       .inputs = {{2, 2, 3}, {2, 2, 1}, {2, 2, 0}},
       .result = {2, 2, 4},
       .op = [](Tensors x) { return concat(x, -1); },
       .definition = [=](Arrays x, const Index& i) { return joined(x, i, -1); },
       .large = {{60, 20, 30}, {60, 20, 1}, {60, 20, 7}}},
      {.name = "stack",
       .inputs = {{2, 3}, {2, 3}},
       .result = {2, 2, 3},
       .op = [](Tensors x) { return stack(x, 0); },
       .definition = [](Arrays x,
                        const Index& i) { return x[static_cast<size_t>(i[0])](i.without(0)); },
       .misuses = {MISUSE(stack({}, 0)),
                   MISUSE(stack(std::array{Tensor::zeros({2, 3}), Tensor::zeros({2, 4})}, 0)),
                   MISUSE(stack(std::array{Tensor::zeros({2, 3})}, 3))}},
      {.name = "stack: a last axis",
       .inputs = {{2, 3}, {2, 3}},
       .result = {2, 3, 2},
       .op = [](Tensors x) { return stack(x, -1); },
       .definition = [](Arrays x,
                        const Index& i) { return x[static_cast<size_t>(i[2])](i.without(2)); },
       .large = {{100, 200}, {100, 200}}},
  });
}

}  // namespace
}  // namespace heed::inline HEED_REAL::testing
