#include "course/grader/grader.h"

#include <cmath>

#include "core/autograd.h"
#include "course/grader/training.h"
#include "nn/forms/positional.h"

namespace heed::course {

void grade_rotary(Grader& g, decltype(&rotary) answer) {
  const auto check = [&](int64_t batch, int64_t length, int64_t heads, int64_t width,
                         const RotaryOptions& options) {
    const Shape shape{batch, length, heads * width};
    const bool neighbours = options.layout == RotaryLayout::interleaved;
    const auto definition = [=](Arrays x, const Index& i) {
      const int64_t column = i[2] % width, k = neighbours ? column / 2 : column % (width / 2);
      const int64_t a = i[2] - column + (neighbours ? 2 * k : k);
      const int64_t b = a + (neighbours ? 1 : width / 2);
      const double exponent = -2 * static_cast<double>(k) / static_cast<double>(width);
      const double angle =
          static_cast<double>(options.first_position + i[1]) * std::pow(options.base, exponent);
      const double first = x[0](i.with(2, a)), second = x[0](i.with(2, b));
      return i[2] == a ? first * std::cos(angle) - second * std::sin(angle)
                       : first * std::sin(angle) + second * std::cos(angle);
    };
    g.check({.name = fmt::format("rotary of x {}, heads {}, {}, base {:.4g}, first_position {}",
                                 shape, heads, neighbours ? "interleaved" : "halves", options.base,
                                 options.first_position),
             .inputs = {shape},
             .result = shape,
             .op = [=](Tensors x) { return answer(x[0], heads, options); },
             .definition = definition,
             .arguments = {"x"}});
  };
  const int64_t heads = g.size(3, 4), width = 2 * g.size(2, 3);
  check(2, g.size(2, 4), heads, width, {});
  check(1, g.size(2, 4), heads, width, {.layout = RotaryLayout::halves});
  check(1, 3, heads, width, {.base = g.number(2, 100)});
  check(2, 2, 1, width, {.first_position = g.size(2, 900)});
  check(1, 1, 1, 2, {});
  check(2, 3, 3, 2 * g.size(1, 4), {RotaryLayout::halves, g.number(2, 1e5), g.size(2, 90)});
}

namespace {
namespace rotary_answers {

struct RotaryPlace {
  double t, head, k, width, heads;
};
using Angle = double (*)(const RotaryPlace& at, double base);
using Turn = std::pair<double, double> (*)(double a, double b, double angle);

double right_angle(const RotaryPlace& at, double base) {
  return at.t * std::pow(base, -2 * at.k / at.width);
}
std::pair<double, double> right_turn(double a, double b, double angle) {
  return {a * std::cos(angle) - b * std::sin(angle), a * std::sin(angle) + b * std::cos(angle)};
}

// The solution in loops. Each part may be replaced.
struct Rotation {
  int64_t heads;
  RotaryOptions options;
  Angle angle = right_angle;
  Turn turn = right_turn;
  double backward_direction = -1;
  bool forgets_first_position = false;

  void rotate(const Shape& shape, double direction, int64_t first_position, const double* x,
              Destination to) const {
    const int64_t width = shape[2] / heads;
    const bool neighbours = options.layout == RotaryLayout::interleaved;
    for (int64_t row = 0; row < shape[0] * shape[1]; ++row)
      for (int64_t h = 0; h < heads; ++h)
        for (int64_t k = 0; k < width / 2; ++k) {
          const int64_t i = row * shape[2] + h * width + (neighbours ? 2 * k : k);
          const int64_t j = i + (neighbours ? 1 : width / 2);
          const RotaryPlace at{static_cast<double>(first_position + row % shape[1]),
                               static_cast<double>(h), static_cast<double>(k),
                               static_cast<double>(width), static_cast<double>(heads)};
          const auto [a, b] = turn(x[i], x[j], direction * angle(at, options.base));
          to.data[i] = to.accumulate ? to.data[i] + a : a;
          to.data[j] = to.accumulate ? to.data[j] + b : b;
        }
  }
  Tensor of(const Tensor& x) const {
    Tensor y = Tensor::empty(x.shape());
    rotate(x.shape(), 1, options.first_position, x.data(), {y.mutable_data(), false});
    return record("rotary", y, {x}, [r = *this](Backward& g) {
      r.rotate(g.shape(), r.backward_direction,
               r.forgets_first_position ? 0 : r.options.first_position, g.dy(), g.into(0));
    });
  }
};

template <auto change>
Tensor changed(const Tensor& x, int64_t heads, const RotaryOptions& options) {
  Rotation rotation{heads, options};
  change(rotation);
  return rotation.of(x);
}
template <auto angle>
Tensor with_angle(const Tensor& x, int64_t heads, const RotaryOptions& options) {
  return Rotation{heads, options, angle}.of(x);
}
template <auto turn>
Tensor with_turn(const Tensor& x, int64_t heads, const RotaryOptions& options) {
  return Rotation{heads, options, right_angle, turn}.of(x);
}

const Exercise rotary_exercise(
    "rotary", grade_rotary, {heed::rotary},
    {{"", changed<[](Rotation&) {}>},
     {"Columns k and k + K/2 are a pair: that is RotaryLayout::halves. RotaryLayout::interleaved "
      "pairs columns 2k and 2k + 1.",
      changed<[](Rotation& r) { r.options.layout = RotaryLayout::halves; }>},
     {"Columns 2k and 2k + 1 are a pair: that is RotaryLayout::interleaved. RotaryLayout::halves "
      "pairs columns k and k + K/2.",
      changed<[](Rotation& r) { r.options.layout = RotaryLayout::interleaved; }>},
     {"The rotation goes the other way: the sign of the angle, or of both sines, is wrong.",
      with_angle<[](const RotaryPlace& at, double base) { return -right_angle(at, base); }>},
     {"The base is always 10000: options.base is not used.",
      changed<[](Rotation& r) { r.options.base = 10000; }>},
     {"Positions always start at 0: options.first_position is not used.",
      changed<[](Rotation& r) { r.options.first_position = 0; }>},
     {"Positions start at 1. x[:, 0, :] has the position first_position, 0 by default, which is "
      "not rotated.",
      changed<[](Rotation& r) { ++r.options.first_position; }>},
     {"All columns are rotated as one head. Rotate each head separately: K is x.dim(2) / heads.",
      changed<[](Rotation& r) { r.heads = 1; }>},
     {"The frequencies are those of a head as wide as x: the exponent is -2k/K with K = x.dim(2) / "
      "heads.",
      with_angle<[](const RotaryPlace& at, double base) {
        return at.t * std::pow(base, -2 * at.k / (at.width * at.heads));
      }>},
     {"Pairs are counted over all heads: k starts at 0 in each head.",
      with_angle<[](const RotaryPlace& at, double base) {
        return at.t * std::pow(base, -2 * (at.k + at.head * at.width / 2) / at.width);
      }>},
     {"The exponent is -k/K, it must be -2k/K.", with_angle<[](const RotaryPlace& at, double base) {
        return at.t * std::pow(base, -at.k / at.width);
      }>},
     {"k starts at 1: the fastest frequency, 1, is missing.",
      with_angle<[](const RotaryPlace& at, double base) {
        return at.t * std::pow(base, -2 * (at.k + 1) / at.width);
      }>},
     {"The frequencies grow with k: the exponent is -2k/K.",
      with_angle<[](const RotaryPlace& at, double base) {
        return at.t * std::pow(base, 2 * at.k / at.width);
      }>},
     {"All pairs turn at the same speed, 1: 2 * k / K is a division of integers.",
      with_angle<[](const RotaryPlace& at, double) { return at.t; }>},
     {"The second of a pair is computed from the first after it was rotated. Keep the old value.",
      with_turn<[](double a, double b, double angle) {
        const double first = a * std::cos(angle) - b * std::sin(angle);
        return std::pair(first, first * std::sin(angle) + b * std::cos(angle));
      }>},
     {"Both sines have the same sign: the matrix is (cos, -sin; sin, cos).",
      with_turn<[](double a, double b, double angle) {
        return std::pair(right_turn(a, b, angle).first, right_turn(a, b, -angle).second);
      }>},
     {"Both sines have the same sign: the matrix is (cos, -sin; sin, cos).",
      with_turn<[](double a, double b, double angle) {
        return std::pair(right_turn(a, b, -angle).first, right_turn(a, b, angle).second);
      }>},
     {"The table of sinusoids is added to x. Rotary positions rotate x: they multiply.",
      with_turn<[](double a, double b, double angle) {
        return std::pair(a + std::sin(angle), b + std::cos(angle));
      }>},
     {"This is x itself.", with_turn<[](double a, double b, double) { return std::pair(a, b); }>},
     {"The gradient is dy rotated forward once more. It must be rotated back, by the opposite "
      "angle: the transposed matrix.",
      changed<[](Rotation& r) { r.backward_direction = 1; }>},
     {"This is dy itself: backward does not rotate it.",
      changed<[](Rotation& r) { r.backward_direction = 0; }>},
     {"Backward starts at position 0: options.first_position is used only forward.",
      changed<[](Rotation& r) { r.forgets_first_position = true; }>}});
HEED_TRAIN(rotary, positional_encodings::rotary);

}  // namespace rotary_answers
}  // namespace
}  // namespace heed::course
