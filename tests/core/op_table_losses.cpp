// The op table: losses.
#include <doctest/doctest.h>

#include <cmath>

#include "op_table.h"

namespace heed::inline HEED_REAL::testing {
namespace {

// p(v) with label smoothing; see Smoothing.
double smoothed(const LabelSmoothing& smoothing, int64_t v, int64_t target, int64_t classes) {
  const double epsilon = smoothing.epsilon, on_target = v == target ? 1 - epsilon : 0;
  const auto among = [&](int64_t n) { return epsilon / static_cast<double>(n); };
  if (smoothing.over == Smoothing::vocabulary) return on_target + among(classes);
  if (v == target) return on_target;
  if (smoothing.over == Smoothing::others) return among(classes - 1);
  return v == smoothing.impossible ? 0 : among(classes - 2);
}

// Cross entropy by its definition.
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
             misuse(fine, {0.1, Smoothing::possible_others}),     // the class is missing
             misuse(fine, {0.1, Smoothing::possible_others, 3}),  // it is not a class
             misuse(fine, {0.1, Smoothing::possible_others, 2}),  // it is a target
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
  for (int64_t i = 0; i < many.size(); i += 7) many.mutable_data()[i] = ignored;
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

// linear() and cross_entropy() by their definitions.
double linear_cross_entropy_of(Arrays t, const Ids& targets, const LabelSmoothing& smoothing) {
  const Array &x = t[0], &w = t[1];
  const int64_t inputs = w.shape[1], classes = w.shape[0];
  Array logits{targets.shape().inserted(targets.shape().rank(), classes), {}};
  for (int64_t n = 0; n < targets.size(); ++n)
    for (int64_t v = 0; v < classes; ++v)
      logits.values.push_back(sum_over(inputs,
                                       [&](int64_t i) {
                                         return x.values[static_cast<size_t>(n * inputs + i)] *
                                                w.values[static_cast<size_t>(v * inputs + i)];
                                       }) +
                              (t.size() > 2 ? t[2].values[static_cast<size_t>(v)] : 0));
  return cross_entropy_of(logits, targets, smoothing);
}

TEST_CASE("op table: linear_cross_entropy") {
  // x of `rows`, 3 wide; `at_once` logits, of rows of 4: all, or those of one row, two or three.
  const auto row = [](bool bias, const Ids& targets, const LabelSmoothing& smoothing,
                      int64_t at_once, bool large = false) {
    const Shape& rows = targets.shape();
    const auto inputs = [=](int64_t classes, int64_t width) {
      std::vector<Shape> shapes{rows.inserted(rows.rank(), width), {classes, width}};
      if (bias) shapes.push_back({classes});
      return shapes;
    };
    const auto misuse = [](const Shape& x, const Shape& w, const Shape& b, const Ids& ids) {
      return
          [=] { linear_cross_entropy(Tensor::zeros(x), Tensor::zeros(w), Tensor::zeros(b), ids); };
    };
    const Ids fine = Ids::from({2}, {0, 1});
    return OpRow{
        .name = fmt::format("linear_cross_entropy: {}, {} at once, smoothing {} over {}{}", rows,
                            at_once, smoothing.epsilon, static_cast<int>(smoothing.over),
                            bias ? ", with bias" : ""),
        .inputs = inputs(4, 3),
        .result = {},
        .op =
            [=](Tensors t) {
              return linear_cross_entropy(t[0], t[1], bias ? t[2] : Tensor(), targets, smoothing,
                                          at_once);
            },
        .definition = [=](Arrays t,
                          const Index&) { return linear_cross_entropy_of(t, targets, smoothing); },
        .large = large ? inputs(190, 30) : std::vector<Shape>{},
        .misuses =
            {misuse({2, 3}, {4, 2}, {4}, fine), misuse({2, 3}, {4, 3}, {3}, fine),
             misuse({2, 3}, {3}, {4}, fine), misuse({3, 3}, {4, 3}, {4}, fine),
             misuse({2, 3}, {4, 3}, {4}, Ids::from({2}, {0, 4})), [=] {
               linear_cross_entropy(Tensor::zeros({2, 3}), Tensor::zeros({4, 3}), {}, fine, 1.5);
             }}};
  };
  Ids many = random_ids({40, 5}, 4);
  for (int64_t i = 0; i < many.size(); i += 7) many.mutable_data()[i] = ignored;
  const Ids some = Ids::from({7}, {0, 3, ignored, 2, 2, 1, ignored});
  const LabelSmoothing others{0.1, Smoothing::others};
  const LabelSmoothing first_never{0.2, Smoothing::possible_others, 3};
  constexpr int64_t all = 1 << 20;
  check_rows(std::vector<OpRow>{
      row(false, some, 0, all),
      row(true, some, 0, all),
      row(false, some, 0, 4),  // a row at a time
      row(true, some, 0.1, 8),
      row(false, some, others, 15),  // three rows, three rows, one
      row(true, some, others, 1),    // less than a row: one row
      row(true, Ids::from({2, 2}, {0, 1, 2, ignored}), first_never, 11),
      row(true, Ids::from({}, {3}), 0.3, all),
      row(false, Ids::full({3}, ignored), 0.1, 8),
      row(true, many, 0.1, all, true),
      row(true, many, 0.1, 4000, true),  // of 190 classes: 20 rows or fewer
      row(false, many, 0, 4000, true),
  });
}

TEST_CASE("op table: linear_cross_entropy of tied weights") {
  const Ids ids = Ids::from({2, 3}, {4, 0, 4, 1, 2, 0}),
            next = Ids::from({2, 3}, {0, 4, 1, 2, 0, 3});
  const auto row = [=](int64_t at_once) {
    return OpRow{
        .name = fmt::format("linear_cross_entropy: tied, {} at once", at_once),
        .inputs = {{5, 3}},
        .result = {},
        .op =
            [=](Tensors w) {
              return linear_cross_entropy(embedding(w[0], ids), w[0], {}, next, 0.1, at_once);
            },
        .definition =
            [=](Arrays w, const Index&) {
              Array x{{2, 3, 3}, {}};
              for (int64_t i = 0; i < 18; ++i)
                x.values.push_back(w[0].values[static_cast<size_t>(ids[i / 3] * 3 + i % 3)]);
              const Array both[] = {x, w[0]};
              return linear_cross_entropy_of(both, next, 0.1);
            }};
  };
  // w is its own input.
  const auto self = [](int64_t at_once) {
    const Ids targets = Ids::from({4}, {3, 0, 1, 1});
    return OpRow{
        .name = fmt::format("linear_cross_entropy: of itself, {} at once", at_once),
        .inputs = {{4, 3}},
        .result = {},
        .op = [=](Tensors w) { return linear_cross_entropy(w[0], w[0], {}, targets, 0, at_once); },
        .definition =
            [=](Arrays w, const Index&) {
              const Array both[] = {w[0], w[0]};
              return linear_cross_entropy_of(both, targets, 0);
            }};
  };
  check_rows(std::vector<OpRow>{row(100), row(10), self(100), self(4)});
}

}  // namespace
}  // namespace heed::inline HEED_REAL::testing
