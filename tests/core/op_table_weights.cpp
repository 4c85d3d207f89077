// The op table: how scores become weights.
#include <doctest/doctest.h>

#include <algorithm>

#include "op_table.h"

namespace heed::inline HEED_REAL::testing {
namespace {

TEST_CASE("op table: masked_fill where an attention mask hides keys") {
  const auto row = [](const std::string& what, const KeepMask& mask, const Shape& scores,
                      std::vector<Shape> large = {}) {
    return OpRow{.name = "masked_fill: " + what,
                 .inputs = {scores},
                 .result = scores,
                 .op = [=](Tensors x) { return masked_fill(x[0], mask, -9); },
                 .definition =
                     [=](Arrays x, const Index& i) {
                       const Shape& s = x[0].shape;
                       return mask.keeps(i[0], i[1], i[2], i[3], s[2], s[3]) ? x[0](i) : -9.0;
                     },
                 .large = std::move(large),
                 .misuses = {MISUSE(masked_fill(Tensor::zeros({2, 3, 3}), mask, 0)),
                             MISUSE(masked_fill(Tensor::zeros({2, 1, 3, 3}),
                                                {.key_lengths = Ids::full({2}, 4)}, 0)),
                             MISUSE(masked_fill(Tensor::zeros({2, 3, 4, 4}),
                                                {.dense = Ids::full({2, 2, 4, 4}, 1)}, 0))}};
  };
  const KeepMask causal{.causal = true}, window{.window = 2}, both{.causal = true, .window = 2};
  const KeepMask lengths{.key_lengths = Ids::from({3}, {4, 0, 2})};
  KeepMask dense{.dense = random_ids({2, 2, 3, 5}, 2)};
  std::fill_n(dense.dense.mutable_data() + 5, 5, 0);  // a query without a visible key
  const KeepMask shared{.dense = random_ids({1, 1, 3, 5}, 2)};
  const KeepMask for_all{.dense = random_ids({2, 1, 3, 5}, 2)};
  const KeepMask all{true, 3, Ids::from({2}, {5, 3}), random_ids({1, 2, 4, 5}, 2)};
  check_rows(std::vector<OpRow>{
      row("open", {}, {2, 2, 3, 4}),
      row("causal", causal, {2, 2, 4, 4}, {{2, 3, 90, 90}}),
      row("causal, fewer queries", causal, {2, 1, 2, 5}, {{2, 3, 40, 300}}),
      row("causal, fewer keys", causal, {1, 2, 5, 2}),
      row("window", window, {2, 2, 5, 5}, {{2, 3, 90, 90}}),
      row("causal window", both, {1, 2, 5, 5}),
      row("key lengths", lengths, {3, 2, 2, 4}, {{3, 2, 80, 90}}),
      row("dense", dense, {2, 2, 3, 5}),
      row("dense, for every head and example", shared, {2, 2, 3, 5}, {{700, 4, 3, 5}}),
      row("dense, for every head", for_all, {2, 2, 3, 5}, {{2, 1500, 3, 5}}),
      row("everything", all, {2, 2, 4, 5}),
  });
}

TEST_CASE("op table: hardmax") {
  const auto row = [](const Shape& shape, std::vector<Shape> large = {}) {
    return OpRow{.name = fmt::format("hardmax: rows of {}", shape),
                 .inputs = {shape},
                 .result = shape,
                 .op = [](Tensors x) { return hardmax(x[0]); },
                 .definition =
                     [](Arrays x, const Index& i) {
                       for (int64_t k = 0; k < x[0].shape[-1]; ++k)
                         if (x[0](i.with(-1, k)) > x[0](i)) return 0.0;
                       return 1.0;
                     },
                 .distinct = true,
                 .large = std::move(large),
                 .misuses = {MISUSE(hardmax(Tensor::scalar(1)))}};
  };
  check_rows(std::vector<OpRow>{
      row({3, 5}, {{500, 70}}),
      row({37}, {{3, 12001}}),
      row({2, 3, 4}, {{90, 30, 17}}),
      row({2, 2, 2, 3}),
      row({4, 1}),
  });
}

TEST_CASE("op table: sum_normalize") {
  const auto row = [](const Shape& shape, std::vector<Shape> large = {}) {
    return OpRow{.name = fmt::format("sum_normalize: rows of {}", shape),
                 .inputs = {shape},
                 .result = shape,
                 .op = [](Tensors x) { return sum_normalize(x[0]); },
                 .definition =
                     [](Arrays x, const Index& i) {
                       return x[0](i) / sum_over(x[0].shape[-1],
                                                 [&](int64_t k) { return x[0](i.with(-1, k)); });
                     },
                 .low = 0.5,
                 .large = std::move(large),
                 .misuses = {MISUSE(sum_normalize(Tensor::scalar(1)))}};
  };
  OpRow signs = row({2, 3});
  signs.name = "sum_normalize: of both signs, and a negative sum";
  signs.values = {{2, -1, 0.5, -0.25, 0, -1}};
  check_rows(std::vector<OpRow>{
      row({3, 5}, {{500, 70}}),
      row({37}, {{3, 12001}}),
      row({2, 3, 4}, {{90, 30, 17}}),
      row({2, 2, 2, 3}),
      row({4, 1}),
      signs,
  });
}

}  // namespace
}  // namespace heed::inline HEED_REAL::testing
