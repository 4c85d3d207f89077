#include "course/grader/grader.h"

#include <cmath>

#include "course/grader/training.h"
#include "nn/forms/positional.h"

namespace heed::course {

void grade_layer_norm(Grader& g, decltype(&layer_norm) answer) {
  const auto row_mean = [](const Array& x, const Index& i, auto f) {
    const int64_t width = x.shape[-1];
    return sum_over(width, [&](int64_t j) { return f(x(i.with(i.rank - 1, j))); }) /
           static_cast<double>(width);
  };
  const auto check = [&](const Shape& shape) {
    const double epsilon = g.number(0.1, 0.4);
    const int64_t width = shape[-1];
    const auto x_hat = [=](const Array& x, const Index& i) {
      const double mean = row_mean(x, i, [](double v) { return v; });
      const double variance = row_mean(x, i, [=](double v) { return (v - mean) * (v - mean); });
      return (x(i) - mean) / std::sqrt(variance + epsilon);
    };
    g.check(
        {.name = fmt::format("layer norm of x {}", shape),
         .inputs = {shape, {width}, {width}},
         .result = shape,
         .op = [=](Tensors x) { return answer(x[0], x[1], x[2], epsilon); },
         .definition = [=](Arrays x, const Index& i) { return x_hat(x[0], i) * x[1](i) + x[2](i); },
         .arguments = {"x", "weight", "bias"}});
    g.check({.name = fmt::format("layer norm of x {} without weight and bias", shape),
             .inputs = {shape},
             .result = shape,
             .op = [=](Tensors x) { return answer(x[0], {}, {}, epsilon); },
             .definition = [=](Arrays x, const Index& i) { return x_hat(x[0], i); },
             .arguments = {"x"}});
  };
  check({g.size(2, 4), g.size(3, 6)});
  check({g.size(2, 3), g.size(2, 3), g.size(2, 5)});
  check({g.size(2, 5)});
  check({g.size(2, 4), 1});
  if (!g.passed()) return;

  const double far = g.number(3e8, 6e8);
  const Tensor y = answer(Tensor::from({1, 4}, {far - 1, far + 1, far - 1, far + 1}), {}, {}, 0);
  g.expect(
      std::fabs(y.data()[1] - 1) < 1e-6,
      fmt::format(
          "layer norm of [m - 1, m + 1, m - 1, m + 1], m = {:.1e}, element 1: got {}, expected 1",
          far, y.data()[1]),
      "mean(x²) - mean(x)² subtracts two large numbers and loses all digits. Sum the squares of x "
      "- mean in a "
      "second pass.");
}

namespace {
namespace layer_norm_answers {

struct Norm {
  const Tensor &x, &weight, &bias;
  real epsilon;

  double width() const { return static_cast<double>(x.dim(-1)); }
  Tensor center() const { return mean(x, {-1}, true); }
  Tensor variance(const Tensor& around) const {
    return mean((x - around) * (x - around), {-1}, true);
  }
  Tensor variance() const { return variance(center()); }
  Tensor scale() const { return 1 / sqrt(variance() + epsilon); }
  Tensor x_hat() const { return (x - center()) * scale(); }
  Tensor affine(const Tensor& normalised) const {
    return weight ? normalised * weight + bias : normalised;
  }

  // 1 in the last row, 0 in the others
  Tensor last_row() const {
    Tensor last = Tensor::zeros(x.shape());
    for (int64_t i = x.size() - x.dim(-1); i < x.size(); ++i) last.mutable_data()[i] = 1;
    return last;
  }
};

template <auto norm>
Tensor normed(const Tensor& x, const Tensor& weight, const Tensor& bias, real epsilon) {
  return norm(Norm{x, weight, bias, epsilon});
}

const Exercise layer_norm_exercise(
    "layer_norm", grade_layer_norm, {layer_norm},
    {{"", normed<[](const Norm& n) { return n.affine(n.x_hat()); }>},
     {"The mean is not subtracted before the division: (x - mean) · scale.",
      normed<[](const Norm& n) { return n.affine(n.x * n.scale()); }>},
     {"This is RMS norm: x divided by the root of the mean of its squares.",
      normed<[](const Norm& n) {
        return n.affine(n.x / sqrt(n.variance(Tensor::scalar(0)) + n.epsilon));
      }>},
     {"Divided by the variance: the root is missing.", normed<[](const Norm& n) {
        return n.affine((n.x - n.center()) / (n.variance() + n.epsilon));
      }>},
     {"epsilon is added to the standard deviation. Add it to the variance, under the root.",
      normed<[](const Norm& n) {
        return n.affine((n.x - n.center()) / (sqrt(n.variance()) + n.epsilon));
      }>},
     {"epsilon is not added to the variance.",
      normed<[](const Norm& n) { return n.affine((n.x - n.center()) / sqrt(n.variance())); }>},
     {"The bias is not added.", normed<[](const Norm& n) { return n.x_hat() * n.weight; }>},
     {"The weight is not multiplied.", normed<[](const Norm& n) { return n.x_hat() + n.bias; }>},
     {"Neither weight nor bias is used: this is x̂.",
      normed<[](const Norm& n) { return n.x_hat(); }>},
     {"The bias is added before the multiplication by the weight.",
      normed<[](const Norm& n) { return (n.x_hat() + n.bias) * n.weight; }>},
     {"The variance is divided by D - 1. Layer norm divides by D.", normed<[](const Norm& n) {
        const double d = n.width();
        return n.affine((n.x - n.center()) / sqrt(n.variance() * (d / (d - 1)) + n.epsilon));
      }>},
     {"This is s · h: it takes mean and scale for constants. Both depend on every x.",
      normed<[](const Norm& n) {
        return n.affine((n.x - n.center().detach()) * n.scale().detach());
      }>},
     {"The term x̂ · mean(h x̂) is missing: the path through the scale.",
      normed<[](const Norm& n) { return n.affine((n.x - n.center()) * n.scale().detach()); }>},
     {"The term mean(h) is missing: the path through the mean.",
      normed<[](const Norm& n) { return n.affine((n.x - n.center().detach()) * n.scale()); }>},
     {"The factor s = 1 / √(variance + epsilon) is missing.", normed<[](const Norm& n) {
        const Tensor x = with_gradient(n.x, 1 / n.scale());
        return Norm{x, n.weight, n.bias, n.epsilon}.affine(
            Norm{x, n.weight, n.bias, n.epsilon}.x_hat());
      }>},
     {"The weight is missing: h = dy · weight.", normed<[](const Norm& n) {
        return n.affine(n.x_hat().detach()) + (n.x_hat() - n.x_hat().detach());
      }>},
     {"These are sums over the row where means are needed: divide both by its width.",
      normed<[](const Norm& n) {
        const Tensor d = Tensor::scalar(n.width());
        return n.affine((n.x - with_gradient(n.center(), d)) * with_gradient(n.scale(), d));
      }>},
     {"This is the sum of dy. The weight was multiplied by x̂: sum dy · x̂.",
      normed<[](const Norm& n) {
        return n.x_hat() * n.weight.detach() + (n.weight - n.weight.detach()) + n.bias;
      }>},
     {"This sums dy · x. The weight was multiplied by x̂, not by x.", normed<[](const Norm& n) {
        return n.x_hat() * n.weight.detach() + (n.weight - n.weight.detach()) * n.x + n.bias;
      }>},
     {"Only the last row arrives. All rows share the weight: add them up.",
      normed<[](const Norm& n) {
        return n.x_hat() * with_gradient(n.weight, n.last_row()) + n.bias;
      }>},
     {"Only the last row arrives. All rows share the bias: add them up.", normed<[](const Norm& n) {
        return n.x_hat() * n.weight + with_gradient(n.bias, n.last_row());
      }>},
     {"This is the sum of dy · weight. The bias is added after the weight: sum dy.",
      normed<[](const Norm& n) {
        return n.x_hat() * n.weight + with_gradient(n.bias, n.weight);
      }>}});
HEED_TRAIN(layer_norm, positional_encodings::relative);

}  // namespace layer_norm_answers
}  // namespace
}  // namespace heed::course
