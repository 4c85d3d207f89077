#include "course/grader/grader.h"

#include <cmath>

#include "course/grader/training.h"
#include "nn/positional.h"

namespace heed::course {
namespace {

// A case of the exercise rotary.
struct RotaryCase {
  int64_t heads, width;  // H, K
  RotaryOptions options;
  double direction = 1;

  double exponent(double k) const { return -2 * k / static_cast<double>(width); }
  double angle(double t, double k) const {
    const double position = static_cast<double>(options.first_position) + t;
    return direction * position * std::pow(options.base, exponent(k));
  }
};

// A way to combine a pair (a, b) into column 0 or 1 of the result.
using RotaryPair = double (*)(double a, double b, double angle, bool second);

double rotary_pair(double a, double b, double angle, bool second) {
  return second ? a * std::sin(angle) + b * std::cos(angle)
                : a * std::cos(angle) - b * std::sin(angle);
}

// y[i] of x (B, T, H·K), with angle(t, k, head).
template <class Angle>
double rotary_element(const Array& x, const Index& i, const RotaryCase& c, Angle angle,
                      RotaryPair pair = rotary_pair) {
  const bool neighbours = c.options.layout == RotaryLayout::interleaved;
  const int64_t column = i[2] % c.width, head = i[2] / c.width;
  const int64_t k = neighbours ? column / 2 : column % (c.width / 2);
  const int64_t a = head * c.width + (neighbours ? 2 * k : k);
  const int64_t b = a + (neighbours ? 1 : c.width / 2);
  return pair(x(i.with(2, a)), x(i.with(2, b)),
              angle(static_cast<double>(i[1]), static_cast<double>(k), static_cast<double>(head)),
              i[2] == b);
}

// The definition of a case, or of one that was mistaken for it.
Definition rotary_of(const RotaryCase& c) {
  return [=](Arrays x, const Index& i) {
    return rotary_element(x[0], i, c, [&](double t, double k, double) { return c.angle(t, k); });
  };
}

std::vector<Mistake> rotary_mistakes(const RotaryCase& c) {
  const auto with_case = [&](auto change) {
    RotaryCase changed = c;
    change(changed);
    return rotary_of(changed);
  };
  const auto with_angle = [&](auto angle) -> Definition {
    return [=](Arrays x, const Index& i) { return rotary_element(x[0], i, c, angle); };
  };
  const auto with_pair = [&](RotaryPair pair) -> Definition {
    return [=](Arrays x, const Index& i) {
      return rotary_element(
          x[0], i, c, [&](double t, double k, double) { return c.angle(t, k); }, pair);
    };
  };
  const bool neighbours = c.options.layout == RotaryLayout::interleaved;
  const auto gradient = [](double direction, const RotaryCase& of) -> GradientFormula {
    return [=](Arrays, const Array& dy, const Index& i) {
      return rotary_element(dy, i, of,
                            [&](double t, double k, double) { return direction * of.angle(t, k); });
    };
  };
  return {
      wrong_value(
          neighbours ? "Columns k and k + K/2 are a pair: that is RotaryLayout::halves. "
                       "RotaryLayout::interleaved pairs columns 2k and 2k + 1."
                     : "Columns 2k and 2k + 1 are a pair: that is RotaryLayout::interleaved. "
                       "RotaryLayout::halves pairs columns k and k + K/2.",
          with_case([=](RotaryCase& m) {
            m.options.layout = neighbours ? RotaryLayout::halves : RotaryLayout::interleaved;
          })),
      wrong_value("The rotation goes the other way: the sign of the angle, or of both sines, is "
                  "wrong.",
                  with_case([](RotaryCase& m) { m.direction = -1; })),
      wrong_value("The base is always 10000: options.base is not used.",
                  with_case([](RotaryCase& m) { m.options.base = 10000; })),
      wrong_value("Positions always start at 0: options.first_position is not used.",
                  with_case([](RotaryCase& m) { m.options.first_position = 0; })),
      wrong_value("Positions start at 1. x[:, 0, :] has the position first_position, 0 by default, "
                  "which is not rotated.",
                  with_case([](RotaryCase& m) { ++m.options.first_position; })),
      wrong_value("All columns are rotated as one head. Each head is rotated on its own: K is "
                  "x.dim(2) / heads.",
                  with_case([](RotaryCase& m) {
                    m.width *= m.heads;
                    m.heads = 1;
                  })),
      wrong_value("The frequencies are those of a head as wide as x: the exponent is -2k/K with "
                  "K = x.dim(2) / heads.",
                  with_angle([=](double t, double k, double) {
                    RotaryCase wide = c;
                    wide.width *= c.heads;
                    return wide.angle(t, k);
                  })),
      wrong_value("Pairs are counted over all heads: k starts at 0 in each head.",
                  with_angle([=](double t, double k, double head) {
                    return c.angle(t, k + head * static_cast<double>(c.width / 2));
                  })),
      wrong_value("The exponent is -k/K, it must be -2k/K.",
                  with_angle([=](double t, double k, double) { return c.angle(t, k / 2); })),
      wrong_value("k starts at 1: the fastest frequency, 1, is missing.",
                  with_angle([=](double t, double k, double) { return c.angle(t, k + 1); })),
      wrong_value("The frequencies grow with k: the exponent is -2k/K.",
                  with_angle([=](double t, double k, double) { return c.angle(t, -k); })),
      wrong_value("All pairs turn at the same speed, 1: 2 * k / K is a division of integers.",
                  with_angle([=](double t, double, double) { return c.angle(t, 0); })),
      wrong_value("The second of a pair is computed from the first after it was rotated. Keep the "
                  "old value.",
                  with_pair([](double a, double b, double angle, bool second) {
                    const double rotated = a * std::cos(angle) - b * std::sin(angle);
                    return second ? rotated * std::sin(angle) + b * std::cos(angle) : rotated;
                  })),
      wrong_value("Both sines have the same sign: the matrix is (cos, -sin; sin, cos).",
                  with_pair([](double a, double b, double angle, bool second) {
                    return second ? b * std::cos(angle) - a * std::sin(angle)
                                  : a * std::cos(angle) - b * std::sin(angle);
                  })),
      wrong_value("Both sines have the same sign: the matrix is (cos, -sin; sin, cos).",
                  with_pair([](double a, double b, double angle, bool second) {
                    return second ? b * std::cos(angle) + a * std::sin(angle)
                                  : a * std::cos(angle) + b * std::sin(angle);
                  })),
      wrong_value("The table of sinusoids is added to x. Rotary positions rotate x: they multiply.",
                  with_pair([](double a, double b, double angle, bool second) {
                    return second ? b + std::cos(angle) : a + std::sin(angle);
                  })),
      wrong_value("This is x itself.", [](Arrays x, const Index& i) { return x[0](i); }),
      wrong_gradient("x",
                     "The gradient is dy rotated forward once more. It must be rotated back, by "
                     "the opposite angle: the transposed matrix.",
                     gradient(1, c)),
      wrong_gradient("x", "This is dy itself: backward does not rotate it.",
                     [](Arrays, const Array& dy, const Index& i) { return dy(i); }),
      wrong_gradient("x",
                     "Backward starts at position 0: options.first_position is used only forward.",
                     gradient(-1,
                              [&] {
                                RotaryCase m = c;
                                m.options.first_position = 0;
                                return m;
                              }())),
  };
}

}  // namespace

void grade_rotary(Grader& g,
                  Tensor (*rotary)(const Tensor& x, int64_t heads, const RotaryOptions& options)) {
  const auto check = [&](int64_t batch, int64_t length, const RotaryCase& c) {
    const Shape shape{batch, length, c.heads * c.width};
    g.check({.name = fmt::format(
                 "rotary of x {}, heads {}, {}, base {:.4g}, first_position {}", shape, c.heads,
                 c.options.layout == RotaryLayout::interleaved ? "interleaved" : "halves",
                 c.options.base, c.options.first_position),
             .inputs = {shape},
             .result = shape,
             .op = [=](Tensors x) { return rotary(x[0], c.heads, c.options); },
             .definition = rotary_of(c),
             .arguments = {"x"}},
            rotary_mistakes(c));
  };
  const int64_t heads = g.size(3, 4), width = 2 * g.size(2, 3);
  check(2, g.size(2, 4), {heads, width, {}});
  check(1, g.size(2, 4), {heads, width, {.layout = RotaryLayout::halves}});
  check(1, 3, {heads, width, {.base = g.number(2, 100)}});
  check(2, 2, {1, width, {.first_position = g.size(2, 900)}});
  check(1, 1, {1, 2, {}});
  check(2, 3, {3, 2 * g.size(1, 4), {RotaryLayout::halves, g.number(2, 1e5), g.size(2, 90)}});
}
HEED_GRADE(rotary, heed::rotary);
HEED_TRAIN(rotary, positional_encodings::rotary);

}  // namespace heed::course
