// The op table: softmax, norms, embedding.
#include <doctest/doctest.h>

#include <cmath>

#include "op_table.h"

namespace heed::inline HEED_REAL::testing {
namespace {

// Of softmax, or of log_softmax.
void check_softmax(bool log) {
  const auto row = [log](int axis, const Shape& shape, const Shape& large) {
    return OpRow{
        .name = fmt::format("{}: axis {} of {}", log ? "log_softmax" : "softmax", axis, shape),
        .inputs = {shape},
        .result = shape,
        .op = [=](Tensors x) { return log ? log_softmax(x[0], axis) : softmax(x[0], axis); },
        .definition =
            [=](Arrays x, const Index& i) {
              const double total = sum_over(
                  x[0].shape[axis], [&](int64_t k) { return std::exp(x[0](i.with(axis, k))); });
              return log ? x[0](i) - std::log(total) : std::exp(x[0](i)) / total;
            },
        .low = -5,
        .high = 5,
        .large = {large},
        .misuses = {MISUSE(log ? log_softmax(Tensor::zeros({3}), 1)
                               : softmax(Tensor::zeros({3}), 1))}};
  };
  check_rows(std::vector<OpRow>{
      row(-1, {3, 5}, {500, 70}),
      row(1, {2, 37}, {4, 12001}),
      row(0, {5, 3}, {100, 400}),
      row(1, {2, 4, 3}, {5, 30, 270}),
      row(2, {2, 2, 1}, {200, 2, 100}),
      row(0, {6}, {20000}),
  });
}

TEST_CASE("op table: softmax") { check_softmax(false); }

TEST_CASE("op table: log_softmax") { check_softmax(true); }

TEST_CASE("op table: layer_norm, rms_norm") {
  constexpr double epsilon = 1e-3;
  const auto centred = [](const Array& x, const Index& i, bool subtract) {
    const int64_t width = x.shape[-1];
    const auto n = static_cast<double>(width);
    const double mean =
        subtract ? sum_over(width, [&](int64_t k) { return x(i.with(-1, k)); }) / n : 0;
    const double variance =
        sum_over(width, [&](int64_t k) { return std::pow(x(i.with(-1, k)) - mean, 2); }) / n;
    return (x(i) - mean) / std::sqrt(variance + epsilon);
  };
  const auto misfits = [](auto norm) {
    return std::vector<std::function<void()>>{[=] {
                                                norm(Tensor::zeros({2, 3}), Tensor::zeros({2}));
                                              },
                                              [=] { norm(Tensor::scalar(1), Tensor()); }};
  };
  const auto layer_norm_of = [=](const Tensor& x, const Tensor& w) {
    return layer_norm(x, w, w, epsilon);
  };
  const auto rms_norm_of = [=](const Tensor& x, const Tensor& w) {
    return rms_norm(x, w, epsilon);
  };
  check_rows(std::vector<OpRow>{
      {.name = "layer_norm",
       .inputs = {{2, 3, 19}, {19}, {19}},
       .result = {2, 3, 19},
       .op = [=](Tensors x) { return layer_norm(x[0], x[1], x[2], epsilon); },
       .definition = [=](Arrays x,
                         const Index& i) { return centred(x[0], i, true) * x[1](i) + x[2](i); },
       .large = {{30, 10, 130}, {130}, {130}},
       .misuses = misfits(layer_norm_of)},
      {.name = "layer_norm: without bias",
       .inputs = {{4, 5}, {5}},
       .result = {4, 5},
       .op = [=](Tensors x) { return layer_norm(x[0], x[1], {}, epsilon); },
       .definition = [=](Arrays x, const Index& i) { return centred(x[0], i, true) * x[1](i); },
       .large = {{9001, 5}, {5}}},
      {.name = "layer_norm: without weight",
       .inputs = {{4, 5}, {5}},
       .result = {4, 5},
       .op = [=](Tensors x) { return layer_norm(x[0], {}, x[1], epsilon); },
       .definition = [=](Arrays x, const Index& i) { return centred(x[0], i, true) + x[1](i); },
       .large = {{3, 12001}, {12001}}},
      {.name = "layer_norm: plain",
       .inputs = {{7}},
       .result = {7},
       .op = [=](Tensors x) { return layer_norm(x[0], {}, {}, epsilon); },
       .definition = [=](Arrays x, const Index& i) { return centred(x[0], i, true); }},
      {.name = "rms_norm",
       .inputs = {{2, 3, 19}, {19}},
       .result = {2, 3, 19},
       .op = [=](Tensors x) { return rms_norm(x[0], x[1], epsilon); },
       .definition = [=](Arrays x, const Index& i) { return centred(x[0], i, false) * x[1](i); },
       .large = {{30, 10, 130}, {130}},
       .misuses = misfits(rms_norm_of)},
      {.name = "rms_norm: plain",
       .inputs = {{4, 5}},
       .result = {4, 5},
       .op = [=](Tensors x) { return rms_norm(x[0], {}, epsilon); },
       .definition = [=](Arrays x, const Index& i) { return centred(x[0], i, false); }},
  });
}

TEST_CASE("op table: embedding") {
  const auto row = [](const Shape& table, const Ids& ids, const Shape& large_table) {
    return OpRow{.name = fmt::format("embedding: {} from {}", ids.shape(), table),
                 .inputs = {table},
                 .result = ids.shape().inserted(ids.shape().rank(), table[1]),
                 .op = [=](Tensors x) { return embedding(x[0], ids); },
                 .definition =
                     [=](Arrays x, const Index& i) {
                       int64_t n = 0;
                       for (int a = 0; a + 1 < i.rank; ++a) n = n * ids.dim(a) + i[a];
                       const Index element = index_of({1, 1}, 0);
                       return x[0](element.with(0, ids[n]).with(1, i[-1]));
                     },
                 .large = {large_table},
                 .misuses = {MISUSE(embedding(Tensor::zeros({3, 2}), Ids::from({2}, {0, 3}))),
                             MISUSE(embedding(Tensor::zeros({3, 2}), Ids::from({1}, {-1}))),
                             MISUSE(embedding(Tensor::zeros({3}), Ids::from({1}, {0})))}};
  };
  check_rows(std::vector<OpRow>{
      row({5, 3}, Ids::from({2, 3}, {4, 0, 4, 4, 1, 0}), {5, 9000}),
      row({5, 20}, Ids::from({}, {2}), {40, 1000}),
      row({300, 2}, random_ids({400}, 300), {300, 150}),
  });
}

}  // namespace
}  // namespace heed::inline HEED_REAL::testing
