#include "course/grader/grader.h"

#include <algorithm>
#include <cmath>

namespace heed::course {

[[gnu::weak]] Tensor sinusoidal_table(int64_t length, int64_t dim);

void grade_sinusoidal(Grader& g, decltype(&sinusoidal_table) answer) {
  const auto check = [&](int64_t length, int64_t dim) {
    g.check({.name = fmt::format("a table {}", Shape{length, dim}),
             .inputs = {},
             .result = {length, dim},
             .op = [=](Tensors) { return answer(length, dim); },
             .definition =
                 [=](Arrays, const Index& i) {
                   const double exponent = -2 * static_cast<double>(i[1] / 2);
                   const double angle = static_cast<double>(i[0]) *
                                        std::pow(10000, exponent / static_cast<double>(dim));
                   return i[1] % 2 == 0 ? std::sin(angle) : std::cos(angle);
                 }});
  };
  check(g.size(4, 7), 2 * g.size(4, 6));
  check(g.size(2, 3), 2);
  check(1, 2 * g.size(1, 5));
  check(g.size(200, 300), 2 * g.size(2, 3));
}

namespace {
namespace sinusoidal_answers {

constexpr double pi = 3.14159265358979323846;

double frequency(double k, double dim) { return std::pow(10000, -2 * k / dim); }

// element(t, column, dim)
template <auto element>
Tensor table(int64_t length, int64_t dim) {
  Tensor result = Tensor::empty({length, dim});
  for (int64_t i = 0; i < result.size(); ++i)
    result.mutable_data()[i] =
        element(static_cast<double>(i / dim), i % dim, static_cast<double>(dim));
  return result;
}

// Sines and cosines side by side, or first all sines, of angle(t, k, dim).
template <auto angle>
double side_by_side(double t, int64_t column, double dim) {
  const double value = angle(t, static_cast<double>(column / 2), dim);
  return column % 2 == 0 ? std::sin(value) : std::cos(value);
}
template <auto angle>
double in_halves(double t, int64_t column, double dim) {
  const int64_t half = static_cast<int64_t>(dim) / 2;
  const double value = angle(t, static_cast<double>(column % half), dim);
  return column < half ? std::sin(value) : std::cos(value);
}

double right(double t, double k, double d) { return t * frequency(k, d); }
double from_1(double t, double k, double d) { return t * frequency(k + 1, d); }

const Exercise sinusoidal_exercise(
    "sinusoidal", grade_sinusoidal, {sinusoidal_table},
    {{"", table<side_by_side<right>>},
     {"k starts at 1, so the fastest frequency is missing. In the paper k starts at 0, with ω = 1.",
      table<side_by_side<from_1>>},
     {"All sines come first, then all cosines. That layout exists too, but the paper's has each "
      "sine next to its cosine.",
      table<in_halves<right>>},
     {"All sines come first, then all cosines, and k starts at 1.", table<in_halves<from_1>>},
     {"Sine and cosine are exchanged: even columns are sines.",
      table<[](double t, int64_t column, double d) {
        const double angle = right(t, static_cast<double>(column / 2), d);
        return column % 2 == 0 ? std::cos(angle) : std::sin(angle);
      }>},
     {"There are only sines: odd columns are cosines.",
      table<[](double t, int64_t column, double d) {
        return std::sin(right(t, static_cast<double>(column / 2), d));
      }>},
     {"The sine and the cosine of a pair have different frequencies: the exponent has the column "
      "instead of 2k.",
      table<[](double t, int64_t column, double d) {
        const double angle = right(t, static_cast<double>(column) / 2, d);
        return column % 2 == 0 ? std::sin(angle) : std::cos(angle);
      }>},
     {"The exponent is k/D instead of 2k/D: the frequencies end at 1/100 instead of nearly "
      "1/10000.",
      table<side_by_side<[](double t, double k, double d) { return right(t, k / 2, d); }>>},
     {"The exponent is 2k/D, not 2k/(D/2): every second frequency is missing.",
      table<side_by_side<[](double t, double k, double d) { return right(t, 2 * k, d); }>>},
     {"The divisor is D/2 - 1, so that the last frequency is exactly 1/10000. Some libraries do "
      "it; the paper's exponent is 2k/D.",
      table<side_by_side<[](double t, double k, double d) {
        return t * std::pow(10000, -k / std::max(d / 2 - 1, 1.0));
      }>>},
     {"All frequencies are 1: 2 * k / dim is a division of integers, which gives 0.",
      table<side_by_side<[](double t, double, double) { return t; }>>},
     {"The frequencies grow with k: the sign of the exponent is missing.",
      table<side_by_side<[](double t, double k, double d) { return right(t, -k, d); }>>},
     {"The base is e: exp(-2k/D) lacks the factor log 10000.",
      table<side_by_side<[](double t, double k, double d) { return t * std::exp(-2 * k / d); }>>},
     {"The angles are in degrees; std::sin takes radians.",
      table<side_by_side<[](double t, double k, double d) { return right(t, k, d) * pi / 180; }>>},
     {"A factor 2π is in the angles: ωₖ is an angle for each position already.",
      table<side_by_side<[](double t, double k, double d) { return right(t, k, d) * 2 * pi; }>>},
     {"Positions start at 1. The first position is 0: sin 0 = 0, cos 0 = 1.",
      table<side_by_side<[](double t, double k, double d) { return right(t + 1, k, d); }>>},
     {"The table is transposed: rows are positions.", [](int64_t length, int64_t dim) {
        return transpose(table<side_by_side<right>>(length, dim), 0, 1);
      }}});

}  // namespace sinusoidal_answers
}  // namespace
}  // namespace heed::course
