#include "course/grader/grader.h"

#include <cmath>

#include "course/grader/training.h"
#include "nn/positional.h"

namespace heed::course {

void grade_layer_norm(Grader& g, Tensor (*layer_norm)(const Tensor& x, const Tensor& weight,
                                                      const Tensor& bias, real epsilon)) {
  // A row of x: means over its last axis of f(j, x[j]).
  const auto row_mean = [](const Array& x, const Index& i, auto f) {
    const int64_t width = x.shape[-1];
    return sum_over(width,
                    [&](int64_t j) {
                      const Index at = i.with(i.rank - 1, j);
                      return f(at, x(at));
                    }) /
           static_cast<double>(width);
  };
  const auto mean = [=](const Array& x, const Index& i) {
    return row_mean(x, i, [](const Index&, double v) { return v; });
  };
  const auto variance = [=](const Array& x, const Index& i) {
    const double m = mean(x, i);
    return row_mean(x, i, [=](const Index&, double v) { return (v - m) * (v - m); });
  };

  const auto check = [&](const Shape& shape) {
    const double epsilon = g.number(0.1, 0.4);
    const int64_t width = shape[-1];
    const auto rows_along = [=](auto f) {  // Σ over the rows of f(index of column i of the row)
      double total = 0;
      for (const Index& row : indices(shape.without(-1))) total += f(row.inserted(row.rank, 0));
      return total;
    };
    const auto scale = [=](const Array& x, const Index& i) {
      return 1 / std::sqrt(variance(x, i) + epsilon);
    };
    const auto x_hat = [=](const Array& x, const Index& i) {
      return (x(i) - mean(x, i)) * scale(x, i);
    };
    const auto affine = [](auto normalised) {
      return [=](Arrays x, const Index& i) { return normalised(x[0], i) * x[1](i) + x[2](i); };
    };
    // h, its mean over a row, and that of h x̂
    const auto h = [](Arrays x, const Array& dy, const Index& i) { return dy(i) * x[1](i); };
    const auto mean_h = [=](Arrays x, const Array& dy, const Index& i) {
      return row_mean(x[0], i, [&](const Index& j, double) { return h(x, dy, j); });
    };
    const auto mean_hx = [=](Arrays x, const Array& dy, const Index& i) {
      return row_mean(x[0], i,
                      [&](const Index& j, double) { return h(x, dy, j) * x_hat(x[0], j); });
    };
    const auto of_rows = [=](auto f) {  // gradient of weight or bias: Σ f over the rows
      return [=](Arrays x, const Array& dy, const Index& i) {
        return rows_along([&](const Index& row) { return f(x, dy, row.with(row.rank - 1, i[0])); });
      };
    };
    const auto d_bias = [](Arrays, const Array& dy, const Index& i) { return dy(i); };
    const auto d_weight = [=](Arrays x, const Array& dy, const Index& i) {
      return dy(i) * x_hat(x[0], i);
    };
    const auto last_row = [=](auto f) {
      return [=](Arrays x, const Array& dy, const Index& i) {
        Index last = index_of(shape, shape.size() - 1);
        return f(x, dy, last.with(last.rank - 1, i[0]));
      };
    };

    std::vector<Mistake> mistakes{
        wrong_value("The mean is not subtracted before the division: (x - mean) · scale.",
                    affine([=](const Array& x, const Index& i) { return x(i) * scale(x, i); })),
        wrong_value(
            "This is RMS norm: x divided by the root of the mean of its squares.",
            affine([=](const Array& x, const Index& i) {
              return x(i) / std::sqrt(row_mean(x, i, [](const Index&, double v) { return v * v; }) +
                                      epsilon);
            })),
        wrong_value("Divided by the variance: the root is missing.",
                    affine([=](const Array& x, const Index& i) {
                      return (x(i) - mean(x, i)) / (variance(x, i) + epsilon);
                    })),
        wrong_value(
            "epsilon is added to the standard deviation. Add it to the variance, under the root.",
            affine([=](const Array& x, const Index& i) {
              return (x(i) - mean(x, i)) / (std::sqrt(variance(x, i)) + epsilon);
            })),
        wrong_value("epsilon is not added to the variance.",
                    affine([=](const Array& x, const Index& i) {
                      return (x(i) - mean(x, i)) / std::sqrt(variance(x, i));
                    })),
        wrong_value("The bias is not added.",
                    [=](Arrays x, const Index& i) { return x_hat(x[0], i) * x[1](i); }),
        wrong_value("The weight is not multiplied.",
                    [=](Arrays x, const Index& i) { return x_hat(x[0], i) + x[2](i); }),
        wrong_value("Neither weight nor bias is used: this is x̂.",
                    [=](Arrays x, const Index& i) { return x_hat(x[0], i); }),
        wrong_value("The bias is added before the multiplication by the weight.",
                    [=](Arrays x, const Index& i) { return (x_hat(x[0], i) + x[2](i)) * x[1](i); }),
        wrong_gradient(
            "x", "This is s · h: it takes mean and scale for constants. Both depend on every x.",
            [=](Arrays x, const Array& dy, const Index& i) {
              return scale(x[0], i) * h(x, dy, i);
            }),
        wrong_gradient("x", "The term x̂ · mean(h x̂) is missing: the path through the scale.",
                       [=](Arrays x, const Array& dy, const Index& i) {
                         return scale(x[0], i) * (h(x, dy, i) - mean_h(x, dy, i));
                       }),
        wrong_gradient("x", "The term mean(h) is missing: the path through the mean.",
                       [=](Arrays x, const Array& dy, const Index& i) {
                         return scale(x[0], i) * (h(x, dy, i) - x_hat(x[0], i) * mean_hx(x, dy, i));
                       }),
        wrong_gradient("x", "The factor s = 1 / √(variance + epsilon) is missing.",
                       [=](Arrays x, const Array& dy, const Index& i) {
                         return h(x, dy, i) - mean_h(x, dy, i) - x_hat(x[0], i) * mean_hx(x, dy, i);
                       }),
        wrong_gradient("x", "The weight is missing: h = dy · weight.",
                       [=](Arrays x, const Array& dy, const Index& i) {
                         const auto of_row = [&](auto f) {
                           return row_mean(x[0], i, [&](const Index& j, double) { return f(j); });
                         };
                         return scale(x[0], i) *
                                (dy(i) - of_row([&](const Index& j) { return dy(j); }) -
                                 x_hat(x[0], i) * of_row([&](const Index& j) {
                                   return dy(j) * x_hat(x[0], j);
                                 }));
                       }),
        wrong_gradient(
            "x", "These are sums over the row where means are needed: divide both by its width.",
            [=](Arrays x, const Array& dy, const Index& i) {
              const auto d = static_cast<double>(width);
              return scale(x[0], i) *
                     (h(x, dy, i) - d * mean_h(x, dy, i) - x_hat(x[0], i) * d * mean_hx(x, dy, i));
            }),
        wrong_gradient("weight",
                       "This is the sum of dy. The weight was multiplied by x̂: sum dy · x̂.",
                       of_rows(d_bias)),
        wrong_gradient(
            "weight", "This sums dy · x. The weight was multiplied by x̂, not by x.",
            of_rows([](Arrays x, const Array& dy, const Index& i) { return dy(i) * x[0](i); })),
        wrong_gradient("weight",
                       "Only the last row arrives. All rows share the weight: add them up.",
                       last_row(d_weight)),
        wrong_gradient("bias", "Only the last row arrives. All rows share the bias: add them up.",
                       last_row(d_bias)),
        wrong_gradient(
            "bias", "This is the sum of dy · weight. The bias is added after the weight: sum dy.",
            of_rows(h))};
    if (width > 1)
      mistakes.push_back(wrong_value("The variance is divided by D - 1. Layer norm divides by D.",
                                     affine([=](const Array& x, const Index& i) {
                                       const auto d = static_cast<double>(width);
                                       return (x(i) - mean(x, i)) /
                                              std::sqrt(variance(x, i) * d / (d - 1) + epsilon);
                                     })));
    const OpRow row{.name = fmt::format("layer norm of x {}", shape),
                    .inputs = {shape, {width}, {width}},
                    .result = shape,
                    .op = [=](Tensors x) { return layer_norm(x[0], x[1], x[2], epsilon); },
                    .definition = affine(x_hat),
                    .arguments = {"x", "weight", "bias"}};
    g.check(row, mistakes);
    OpRow plain = row;
    plain.name += " without weight and bias";
    plain.inputs = {shape};
    plain.op = [=](Tensors x) { return layer_norm(x[0], {}, {}, epsilon); };
    plain.definition = [=](Arrays x, const Index& i) { return x_hat(x[0], i); };
    plain.arguments = {"x"};
    g.check(plain);
  };
  check({g.size(2, 4), g.size(3, 6)});
  check({g.size(2, 3), g.size(2, 3), g.size(2, 5)});
  check({g.size(2, 5)});
  check({g.size(2, 4), 1});

  const double far = g.number(3e8, 6e8);
  const Tensor y =
      layer_norm(Tensor::from({1, 4}, {far - 1, far + 1, far - 1, far + 1}), {}, {}, 0);
  g.expect(
      std::fabs(y.data()[1] - 1) < 1e-6,
      fmt::format(
          "layer norm of [m - 1, m + 1, m - 1, m + 1], m = {:.1e}, element 1: got {}, expected 1",
          far, y.data()[1]),
      "mean(x²) - mean(x)² subtracts two large numbers and loses all digits. Sum the squares of x "
      "- mean in a "
      "second pass.");
}
HEED_GRADE(layer_norm, layer_norm);
HEED_TRAIN(layer_norm, positional_encodings::relative);

}  // namespace heed::course
