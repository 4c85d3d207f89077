// The op table: softmax, norms, embedding, losses.
#include <doctest/doctest.h>

#include <cmath>

#include "op_check.h"

namespace heed::inline HEED_REAL::testing {
namespace {

TEST_CASE("op table: softmax, log_softmax") {
  const auto row = [](bool log, int axis, const Shape& shape, const Shape& large) {
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
        .misuses = {[=] {
          log ? log_softmax(Tensor::zeros({3}), 1) : softmax(Tensor::zeros({3}), 1);
        }}};
  };
  for (const bool log : {false, true})
    check_rows(std::vector<OpRow>{
        row(log, -1, {3, 5}, {500, 70}),
        row(log, 1, {2, 37}, {4, 12001}),
        row(log, 0, {5, 3}, {100, 400}),
        row(log, 1, {2, 4, 3}, {5, 30, 270}),
        row(log, 2, {2, 2, 1}, {200, 2, 100}),
        row(log, 0, {6}, {20000}),
    });
}

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
                       const Index place = index_of({1, 1}, 0);
                       return x[0](place.with(0, ids[n]).with(1, i[-1]));
                     },
                 .large = {large_table},
                 .misuses = {[] {
                               embedding(Tensor::zeros({3, 2}), Ids::from({2}, {0, 3}));
                             },
                             [] {
                               embedding(Tensor::zeros({3, 2}), Ids::from({1}, {-1}));
                             },
                             [] { embedding(Tensor::zeros({3}), Ids::from({1}, {0})); }}};
  };
  check_rows(std::vector<OpRow>{
      row({5, 3}, Ids::from({2, 3}, {4, 0, 4, 4, 1, 0}), {5, 9000}),
      row({5, 20}, Ids::from({}, {2}), {40, 1000}),
      row({300, 2}, random_ids({400}, 300), {300, 150}),
  });
}

// p(target) is 1 - ε and what else there is for it; see Smoothing.
double smoothed(const LabelSmoothing& smoothing, int64_t v, int64_t target, int64_t classes) {
  const double epsilon = smoothing.epsilon, on_target = v == target ? 1 - epsilon : 0;
  const auto among = [&](int64_t n) { return epsilon / static_cast<double>(n); };
  if (smoothing.over == Smoothing::vocabulary) return on_target + among(classes);
  if (v == target) return on_target;
  if (smoothing.over == Smoothing::others) return among(classes - 1);
  return v == smoothing.impossible ? 0 : among(classes - 2);
}

// Cross entropy as its definition says it.
double cross_entropy_of(const Array& logits, const Ids& targets, const LabelSmoothing& smoothing) {
  const int64_t classes = logits.shape[-1];
  double loss = 0;
  for (int64_t n = 0; n < targets.size(); ++n) {
    if (targets[n] == ignored) continue;
    const double* x = logits.values.data() + n * classes;
    const double log_total = std::log(sum_over(classes, [&](int64_t v) { return std::exp(x[v]); }));
    loss -= sum_over(classes, [&](int64_t v) {
      return smoothed(smoothing, v, targets[n], classes) * (x[v] - log_total);
    });
  }
  return loss;
}

TEST_CASE("op table: cross_entropy, mse_loss") {
  const auto row = [](const Shape& logits, const Ids& targets, const LabelSmoothing& smoothing,
                      const Shape& large) {
    const auto misuse = [](const Ids& ids, const LabelSmoothing& with = {}) {
      return [=] { cross_entropy(Tensor::zeros({2, 3}), ids, with); };
    };
    const Ids fine = Ids::from({2}, {0, 2});
    return OpRow{
        .name = fmt::format("cross_entropy: {}, smoothing {} over {}", logits, smoothing.epsilon,
                            static_cast<int>(smoothing.over)),
        .inputs = {logits},
        .result = {},
        .op = [=](Tensors x) { return cross_entropy(x[0], targets, smoothing); },
        .definition = [=](Arrays x,
                          const Index&) { return cross_entropy_of(x[0], targets, smoothing); },
        .low = -4,
        .high = 4,
        .large = large.rank() ? std::vector<Shape>{large} : std::vector<Shape>{},
        .misuses =
            {misuse(Ids::from({2}, {0, 3})), misuse(Ids::from({2}, {-2, 0})),
             misuse(Ids::from({3}, {0, 0, 0})), misuse(fine, 1.5), misuse(fine, -0.1),
             misuse(fine, {0.1, Smoothing::possible_others}),     // which class is it?
             misuse(fine, {0.1, Smoothing::possible_others, 3}),  // it is none
             misuse(fine, {0.1, Smoothing::possible_others, 2}),  // and yet a target
             [] {
               cross_entropy(Tensor::zeros({1, 1}), Ids::from({1}, {0}), {0.1, Smoothing::others});
             },
             [] {
               cross_entropy(Tensor::zeros({1, 2}), Ids::from({1}, {0}),
                             {0.1, Smoothing::possible_others, 1});
             },
             [] { cross_entropy(Tensor::scalar(0), Ids::from({}, {0})); }}};
  };
  Ids many = random_ids({40, 5}, 2);
  for (int64_t i = 0; i < many.size(); i += 7) many.data()[i] = ignored;
  const LabelSmoothing others{0.1, Smoothing::others};
  const LabelSmoothing last_never{0.1, Smoothing::possible_others, 2};
  check_rows(std::vector<OpRow>{
      row({4, 5}, Ids::from({4}, {0, 4, 2, 2}), 0, {}),
      row({2, 2, 37}, Ids::from({2, 2}, {0, ignored, 36, 2}), 0, {}),
      row({2, 2, 37}, Ids::from({2, 2}, {0, ignored, 36, 2}), 0.1, {}),
      row({3, 4}, Ids::full({3}, ignored), 0.1, {}),
      row({6}, Ids::from({}, {3}), 0.3, {20000}),
      row({40, 5, 2}, many, 0, {40, 5, 190}),
      row({40, 5, 2}, many, 0.1, {40, 5, 190}),
      row({2, 2, 37}, Ids::from({2, 2}, {0, ignored, 36, 2}), others, {}),
      row({40, 5, 2}, many, others, {40, 5, 190}),
      row({3, 2}, Ids::from({3}, {0, 1, 1}), {0.5, Smoothing::others}, {}),  // an even chance
      row({5}, Ids::from({}, {3}), {1, Smoothing::others}, {20000}),
      row({2, 2, 37}, Ids::from({2, 2}, {0, ignored, 36, 1}), last_never, {}),
      row({40, 5, 3}, many, last_never, {40, 5, 190}),
      row({3}, Ids::from({}, {1}), {0.2, Smoothing::possible_others, 0}, {20000}),
  });
  check_rows(std::vector<OpRow>{
      {.name = "mse_loss",
       .inputs = {{3, 21}, {3, 21}},
       .result = {},
       .op = [](Tensors x) { return mse_loss(x[0], x[1]); },
       .definition =
           [](Arrays x, const Index&) {
             return sum_over(x[0].shape.size(),
                             [&](int64_t k) {
                               const auto i = static_cast<size_t>(k);
                               return std::pow(x[0].values[i] - x[1].values[i], 2);
                             }) /
                    static_cast<double>(x[0].shape.size());
           },
       .large = {{200, 201}, {200, 201}},
       .misuses = {[] {
                     mse_loss(Tensor::zeros({2, 3}), Tensor::zeros({3}));
                   },
                   [] { mse_loss(Tensor::zeros({0}), Tensor::zeros({0})); }}}});
}

}  // namespace
}  // namespace heed::inline HEED_REAL::testing
