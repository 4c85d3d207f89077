// The op table: losses.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/named.h"
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

constexpr Named<Reduction> reductions[] = {
    {"mean", Reduction::mean}, {"sum", Reduction::sum}, {"none", Reduction::none}};

// The place of an index in an array of this shape.
int64_t flat(const Shape& shape, const Index& index) {
  int64_t i = 0;
  for (int axis = 0; axis < shape.rank(); ++axis) i = i * shape[axis] + index[axis];
  return i;
}

struct LossForm {
  Reduction reduction;
  LabelSmoothing smoothing = {};

  Shape result(const Ids& targets) const {
    return reduction == Reduction::none ? targets.shape() : Shape{};
  }
  std::string name() const {
    return fmt::format("{}, smoothing {} over {}", name_of(reductions, reduction),
                       smoothing.epsilon, static_cast<int>(smoothing.over));
  }
};

// The loss of a target by its definition; x are its logits.
double row_loss(const double* x, int64_t classes, int64_t target, const LabelSmoothing& smoothing) {
  const double log_total = std::log(sum_over(classes, [&](int64_t v) { return std::exp(x[v]); }));
  return -sum_over(classes, [&](int64_t v) {
    return smoothed(smoothing, v, target, classes) * (x[v] - log_total);
  });
}

// The losses of the targets that count, reduced; or, of Reduction::none, that of one target.
template <class Loss>
double reduced(const LossForm& form, const Ids& targets, const Index& index, Loss loss) {
  const auto counted_loss = [&](int64_t n) { return targets[n] == ignored ? 0 : loss(n); };
  if (form.reduction == Reduction::none) return counted_loss(flat(targets.shape(), index));
  const double sum = sum_over(targets.size(), counted_loss);
  const double count =
      sum_over(targets.size(), [&](int64_t n) { return targets[n] == ignored ? 0.0 : 1.0; });
  return form.reduction == Reduction::sum ? sum : sum / std::max(1.0, count);
}

double cross_entropy_of(const Array& logits, const Ids& targets, const LossForm& form,
                        const Index& index) {
  const int64_t classes = logits.shape[-1];
  return reduced(form, targets, index, [&](int64_t n) {
    return row_loss(logits.values.data() + n * classes, classes, targets[n], form.smoothing);
  });
}

TEST_CASE("op table: cross_entropy") {
  const auto row = [](const Shape& logits, const Ids& targets, const LossForm& form,
                      const Shape& large) {
    const auto misuse = [=](const Ids& ids, const LabelSmoothing& with = {}) {
      return [=] { cross_entropy(Tensor::zeros({2, 3}), ids, form.reduction, with); };
    };
    const Ids fine = Ids::from({2}, {0, 2});
    return OpRow{
        .name = fmt::format("cross_entropy: {}, {}", logits, form.name()),
        .inputs = {logits},
        .result = form.result(targets),
        .op =
            [=](Tensors x) { return cross_entropy(x[0], targets, form.reduction, form.smoothing); },
        .definition = [=](Arrays x,
                          const Index& i) { return cross_entropy_of(x[0], targets, form, i); },
        .low = -4,
        .high = 4,
        .large = large.rank() ? std::vector<Shape>{large} : std::vector<Shape>{},
        .misuses = {misuse(Ids::from({2}, {0, 3})), misuse(Ids::from({2}, {-2, 0})),
                    misuse(Ids::from({3}, {0, 0, 0})), misuse(fine, 1.5), misuse(fine, -0.1),
                    misuse(fine, {0.1, Smoothing::possible_others}),     // the class is missing
                    misuse(fine, {0.1, Smoothing::possible_others, 3}),  // it is not a class
                    misuse(fine, {0.1, Smoothing::possible_others, 2}),  // it is a target
                    MISUSE(cross_entropy(Tensor::zeros({1, 1}), Ids::from({1}, {0}),
                                         Reduction::mean, {0.1, Smoothing::others})),
                    MISUSE(cross_entropy(Tensor::zeros({1, 2}), Ids::from({1}, {0}),
                                         Reduction::mean, {0.1, Smoothing::possible_others, 1})),
                    MISUSE(cross_entropy(Tensor::scalar(0), Ids::from({}, {0})))}};
  };
  Ids many = random_ids({40, 5}, 2);
  for (int64_t i = 0; i < many.size(); i += 7) many.mutable_data()[i] = ignored;
  const LabelSmoothing others{0.1, Smoothing::others};
  const LabelSmoothing last_never{0.1, Smoothing::possible_others, 2};
  for (const auto& [name, r] : reductions) {
    // Large inputs take long: those of all rows for the sum, of one for the others.
    const bool is_sum = r == Reduction::sum;
    const auto if_sum = [=](const Shape& large) { return is_sum ? large : Shape{}; };
    check_rows(std::vector<OpRow>{
        row({4, 5}, Ids::from({4}, {0, 4, 2, 2}), {r}, {}),
        row({2, 2, 37}, Ids::from({2, 2}, {0, ignored, 36, 2}), {r}, {}),
        row({2, 2, 37}, Ids::from({2, 2}, {0, ignored, 36, 2}), {r, 0.1}, {}),
        row({3, 4}, Ids::full({3}, ignored), {r, 0.1}, {}),
        row({6}, Ids::from({}, {3}), {r, 0.3}, if_sum({20000})),
        row({40, 5, 2}, many, {r}, if_sum({40, 5, 190})),
        row({40, 5, 2}, many, {r, 0.1}, {40, 5, 190}),
        row({2, 2, 37}, Ids::from({2, 2}, {0, ignored, 36, 2}), {r, others}, {}),
        row({40, 5, 2}, many, {r, others}, if_sum({40, 5, 190})),
        row({3, 2}, Ids::from({3}, {0, 1, 1}), {r, {0.5, Smoothing::others}},
            {}),  // an even chance
        row({5}, Ids::from({}, {3}), {r, {1, Smoothing::others}}, if_sum({20000})),
        row({2, 2, 37}, Ids::from({2, 2}, {0, ignored, 36, 1}), {r, last_never}, {}),
        row({40, 5, 3}, many, {r, last_never}, if_sum({40, 5, 190})),
        row({3}, Ids::from({}, {1}), {r, {0.2, Smoothing::possible_others, 0}}, if_sum({20000})),
    });
  }
}

TEST_CASE("op table: mse_loss") {
  for (const auto& [name, reduction] : reductions) {
    const bool is_mean = reduction == Reduction::mean, each = reduction == Reduction::none;
    OpRow row{.name = fmt::format("mse_loss: {}", name),
              .inputs = {{3, 21}, {3, 21}},
              .result = each ? Shape{3, 21} : Shape{},
              .op = [=, r = reduction](Tensors x) { return mse_loss(x[0], x[1], r); },
              .definition =
                  [=, r = reduction](Arrays x, const Index& i) {
                    const auto square = [&](int64_t k) {
                      const auto at = static_cast<size_t>(k);
                      return std::pow(x[0].values[at] - x[1].values[at], 2);
                    };
                    if (r == Reduction::none) return square(flat(x[0].shape, i));
                    const int64_t count = x[0].shape.size();
                    return sum_over(count, square) / (is_mean ? static_cast<double>(count) : 1);
                  },
              .large = {{200, 201}, {200, 201}},
              .misuses = {[r = reduction] {
                mse_loss(Tensor::zeros({2, 3}), Tensor::zeros({3}), r);
              }}};
    if (is_mean) row.misuses.emplace_back([] { mse_loss(Tensor::zeros({0}), Tensor::zeros({0})); });
    check_rows({{row}});
  }
}

// linear() and cross_entropy() by their definitions.
double linear_cross_entropy_of(Arrays t, const Ids& targets, const LossForm& form,
                               const Index& index) {
  const Array &x = t[0], &w = t[1];
  const int64_t inputs = w.shape[1], classes = w.shape[0];
  return reduced(form, targets, index, [&](int64_t n) {
    std::vector<double> logits;
    for (int64_t v = 0; v < classes; ++v)
      logits.push_back(sum_over(inputs,
                                [&](int64_t i) {
                                  return x.values[static_cast<size_t>(n * inputs + i)] *
                                         w.values[static_cast<size_t>(v * inputs + i)];
                                }) +
                       (t.size() > 2 ? t[2].values[static_cast<size_t>(v)] : 0));
    return row_loss(logits.data(), classes, targets[n], form.smoothing);
  });
}

TEST_CASE("op table: linear_cross_entropy") {
  // x of `rows`, 3 wide; `at_once` logits, of rows of 4: all, or those of one row, two or three.
  const auto row = [](bool bias, const Ids& targets, const LossForm& form, int64_t at_once,
                      bool large = false) {
    const Shape& rows = targets.shape();
    const auto inputs = [=](int64_t classes, int64_t width) {
      std::vector<Shape> shapes{rows.inserted(rows.rank(), width), {classes, width}};
      if (bias) shapes.push_back({classes});
      return shapes;
    };
    const auto misuse = [=](const Shape& x, const Shape& w, const Shape& b, const Ids& ids) {
      return [=, r = form.reduction] {
        linear_cross_entropy(Tensor::zeros(x), Tensor::zeros(w), Tensor::zeros(b), ids, r);
      };
    };
    const Ids fine = Ids::from({2}, {0, 1});
    return OpRow{
        .name = fmt::format("linear_cross_entropy: {}, {} at once, {}{}", rows, at_once,
                            form.name(), bias ? ", with bias" : ""),
        .inputs = inputs(4, 3),
        .result = form.result(targets),
        .op =
            [=](Tensors t) {
              return linear_cross_entropy(t[0], t[1], bias ? t[2] : Tensor(), targets,
                                          form.reduction, form.smoothing, at_once);
            },
        .definition = [=](Arrays t,
                          const Index& i) { return linear_cross_entropy_of(t, targets, form, i); },
        .large = large ? inputs(190, 30) : std::vector<Shape>{},
        .misuses = {misuse({2, 3}, {4, 2}, {4}, fine), misuse({2, 3}, {4, 3}, {3}, fine),
                    misuse({2, 3}, {3}, {4}, fine), misuse({3, 3}, {4, 3}, {4}, fine),
                    misuse({2, 3}, {4, 3}, {4}, Ids::from({2}, {0, 4})),
                    MISUSE(linear_cross_entropy(Tensor::zeros({2, 3}), Tensor::zeros({4, 3}), {},
                                                fine, form.reduction, 1.5))}};
  };
  Ids many = random_ids({40, 5}, 4);
  for (int64_t i = 0; i < many.size(); i += 7) many.mutable_data()[i] = ignored;
  const Ids some = Ids::from({7}, {0, 3, ignored, 2, 2, 1, ignored});
  const LabelSmoothing others{0.1, Smoothing::others};
  const LabelSmoothing first_never{0.2, Smoothing::possible_others, 3};
  constexpr int64_t all = 1 << 20;
  for (const auto& [name, r] : reductions)
    check_rows(std::vector<OpRow>{
        row(false, some, {r}, all),
        row(true, some, {r}, all),
        row(false, some, {r}, 4),  // a row at a time
        row(true, some, {r, 0.1}, 8),
        row(false, some, {r, others}, 15),  // three rows, three rows, one
        row(true, some, {r, others}, 1),    // less than a row: one row
        row(true, Ids::from({2, 2}, {0, 1, 2, ignored}), {r, first_never}, 11),
        row(true, Ids::from({}, {3}), {r, 0.3}, all),
        row(false, Ids::full({3}, ignored), {r, 0.1}, 8),
        row(true, many, {r, 0.1}, all, r == Reduction::sum),
        row(true, many, {r, 0.1}, 4000, true),  // of 190 classes: 20 rows or fewer
        row(false, many, {r}, 4000, r == Reduction::sum),
    });
}

TEST_CASE("op table: linear_cross_entropy of tied weights") {
  const Ids ids = Ids::from({2, 3}, {4, 0, 4, 1, 2, 0}),
            next = Ids::from({2, 3}, {0, 4, 1, 2, 0, 3});
  const auto row = [=](Reduction reduction, int64_t at_once) {
    const LossForm form{reduction, 0.1};
    return OpRow{
        .name = fmt::format("linear_cross_entropy: tied, {} at once, {}", at_once, form.name()),
        .inputs = {{5, 3}},
        .result = form.result(next),
        .op =
            [=](Tensors w) {
              return linear_cross_entropy(embedding(w[0], ids), w[0], {}, next, reduction, 0.1,
                                          at_once);
            },
        .definition =
            [=](Arrays w, const Index& i) {
              Array x{{2, 3, 3}, {}};
              for (int64_t k = 0; k < 18; ++k)
                x.values.push_back(w[0].values[static_cast<size_t>(ids[k / 3] * 3 + k % 3)]);
              const Array both[] = {x, w[0]};
              return linear_cross_entropy_of(both, next, form, i);
            }};
  };
  // w is its own input.
  const auto self = [](Reduction reduction, int64_t at_once) {
    const Ids targets = Ids::from({4}, {3, 0, 1, 1});
    const LossForm form{reduction};
    return OpRow{.name = fmt::format("linear_cross_entropy: of itself, {} at once, {}", at_once,
                                     form.name()),
                 .inputs = {{4, 3}},
                 .result = form.result(targets),
                 .op =
                     [=](Tensors w) {
                       return linear_cross_entropy(w[0], w[0], {}, targets, reduction, 0, at_once);
                     },
                 .definition =
                     [=](Arrays w, const Index& i) {
                       const Array both[] = {w[0], w[0]};
                       return linear_cross_entropy_of(both, targets, form, i);
                     }};
  };
  for (const auto& [name, r] : reductions)
    check_rows(std::vector<OpRow>{row(r, 100), row(r, 10), self(r, 100), self(r, 4)});
}

}  // namespace
}  // namespace heed::inline HEED_REAL::testing
