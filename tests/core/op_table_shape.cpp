// The op table: reductions, and the same numbers in another order or in other pieces.
#include <doctest/doctest.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "op_check.h"

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

enum class Fold { sum, mean, max };

OpRow fold_row(Fold fold, const Shape& shape, const std::vector<int>& axes, bool keep,
               const Shape& result, const Shape& large) {
  const auto call = [=](const Tensor& x, Axes list) {
    return fold == Fold::sum    ? sum(x, list, keep)
           : fold == Fold::mean ? mean(x, list, keep)
                                : max(x, list, keep);
  };
  const char* name = fold == Fold::sum ? "sum" : fold == Fold::mean ? "mean" : "max";
  return {.name = fmt::format("{}: axes {} of {}", name, axes, shape),
          .inputs = {shape},
          .result = result,
          .op =
              [=](Tensors x) {
                return axes.empty()       ? call(x[0], {})
                       : axes.size() == 1 ? call(x[0], {axes[0]})
                                          : call(x[0], {axes[0], axes[1]});
              },
          .definition =
              [=](Arrays x, const Index& i) {
                double total = 0, greatest = -std::numeric_limits<double>::infinity();
                int count = 0;
                for_folded(x[0].shape, i, axes, keep, [&](const Index& j) {
                  total += x[0](j);
                  greatest = std::max(greatest, x[0](j));
                  ++count;
                });
                return fold == Fold::sum ? total : fold == Fold::mean ? total / count : greatest;
              },
          .apart = fold == Fold::max,
          .large = {large},
          .misuses = {[=] {
                        call(Tensor::zeros({2, 3}), {2});
                      },
                      [=] {
                        call(Tensor::zeros({2, 3}), {1, -1});
                      }}};
}

TEST_CASE("op table: sum, mean, max") {
  for (const Fold fold : {Fold::sum, Fold::mean, Fold::max})
    check_rows(std::vector<OpRow>{
        fold_row(fold, {4, 5}, {}, false, {}, {200, 201}),
        fold_row(fold, {}, {}, false, {}, {40001}),
        fold_row(fold, {4, 5}, {}, true, {1, 1}, {2, 20001}),
        fold_row(fold, {6, 21}, {0}, false, {21}, {900, 40}),   // the gradient of a bias
        fold_row(fold, {6, 5}, {0}, true, {1, 5}, {13, 3001}),  // few rows, many columns
        fold_row(fold, {3, 37}, {1}, false, {3}, {300, 127}),
        fold_row(fold, {3, 37}, {1}, true, {3, 1}, {3, 12001}),
        fold_row(fold, {2, 3, 4}, {1}, false, {2, 4}, {20, 50, 40}),
        fold_row(fold, {2, 3, 4}, {1}, true, {2, 1, 4}, {2, 700, 30}),
        fold_row(fold, {2, 3, 4}, {0, 2}, false, {3}, {9, 600, 9}),
        fold_row(fold, {2, 3, 4}, {0, 2}, true, {1, 3, 1}, {50, 3, 300}),
        fold_row(fold, {2, 3, 4}, {1, 2}, false, {2}, {40, 30, 31}),
        fold_row(fold, {2, 3, 2, 3}, {1, 3}, false, {2, 2}, {5, 17, 20, 23}),
        fold_row(fold, {1, 3, 1}, {2}, false, {1, 3}, {1, 40000, 1}),
    });
}

TEST_CASE("max: equal maxima share the gradient equally") {
  // Central differences at a tie of two see half of it on either side: they agree.
  OpRow row = fold_row(Fold::max, {2, 3}, {1}, false, {2}, {});
  row.large.clear();
  row.values = {{1, 2, 2, 3, 3, -1}};
  check_rows(std::vector<OpRow>{row});
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
        {.name = fmt::format("permute: {}", order),
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
         .misuses = {[] {
                       permute(Tensor::zeros({2, 3}), {0});
                     },
                     [] {
                       permute(Tensor::zeros({2, 3}), {0, 2});
                     },
                     [] {
                       permute(Tensor::zeros({2, 3}), {1, -1});
                     }}}});
  }
  check_rows(std::vector<OpRow>{
      {.name = "transpose",
       .inputs = {{3, 4}},
       .result = {4, 3},
       .op = [](Tensors x) { return transpose(x[0], 0, 1); },
       .definition = [](Arrays x, const Index& i) { return x[0](i.with(0, i[1]).with(1, i[0])); },
       .large = {{130, 270}},
       .misuses = {[] {
         transpose(Tensor::zeros({2, 3}), 0, 2);
       }}},
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
        .misuses = {[=] {
                      slice(Tensor::zeros({3, 4, 5}), axis, 2, 7);
                    },
                    [=] {
                      slice(Tensor::zeros({3, 4, 5}), axis, 2, 1);
                    },
                    [=] {
                      slice(Tensor::zeros({3, 4, 5}), 3, 0, 1);
                    }}};
  };
  const auto split_row = [](int axis, std::vector<int64_t> sizes, size_t part,
                            const Shape& result) {
    return OpRow{.name = fmt::format("split: part {} of {} of axis {}", part, sizes, axis),
                 .inputs = {{3, 4, 5}},
                 .result = result,
                 .op = [=](Tensors x) { return split(x[0], sizes, axis)[part]; },
                 .definition =
                     [=](Arrays x, const Index& i) {
                       int64_t before = 0;
                       for (size_t k = 0; k < part; ++k) before += sizes[k];
                       return x[0](i.with(axis, i[axis] + before));
                     },
                 .misuses = {[=] {
                               split(Tensor::zeros({9, 9, 9}), sizes, axis);
                             },
                             [] {
                               split(Tensor::zeros({2}), std::array<int64_t, 2>{3, -1}, 0);
                             }}};
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

TEST_CASE("split: the parts together have the whole's gradient") {
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
    int64_t place = i[axis];
    for (const Array& part : x) {
      if (place < part.shape[axis]) return part(i.with(axis, place));
      place -= part.shape[axis];
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
       .misuses = {[] { concat({}, 0); },
                   [] {
                     concat(std::array{Tensor::zeros({2, 3}), Tensor::zeros({2, 4})}, 0);
                   },
                   [] {
                     concat(std::array{Tensor::zeros({2, 3}), Tensor::zeros({2})}, 0);
                   },
                   [] {
                     concat(std::array{Tensor::zeros({2, 3})}, 2);
                   }}},
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
       .misuses = {[] { stack({}, 0); },
                   [] {
                     stack(std::array{Tensor::zeros({2, 3}), Tensor::zeros({2, 4})}, 0);
                   },
                   [] {
                     stack(std::array{Tensor::zeros({2, 3})}, 3);
                   }}},
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
