// The exercise sinusoidal: its solution, its stub, and the mistakes that its grader names.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/ops.h"
#include "tests/course/exercises/graded.h"

namespace heed::course {

void grade_sinusoidal(Grader& g, Tensor (*sinusoidal_table)(int64_t length, int64_t dim));

namespace {

namespace sinusoidal_stub {
using namespace heed;
#include "course/exercises/sinusoidal/exercise.cpp"
}  // namespace sinusoidal_stub

// (length, dim) with element(t, column, dim)
template <class Element>
Tensor sinusoidal_table_of(int64_t length, int64_t dim, Element element) {
  Tensor table = Tensor::empty({length, dim});
  for (int64_t t = 0; t < length; ++t)
    for (int64_t c = 0; c < dim; ++c)
      table.mutable_data()[t * dim + c] =
          element(static_cast<double>(t), c, static_cast<double>(dim));
  return table;
}

// The paper's table, with `angle(t, k, dim)`.
template <class Angle>
auto sinusoidal_with_angle(Angle) {
  return [](int64_t length, int64_t dim) {
    return sinusoidal_table_of(length, dim, [](double t, int64_t c, double d) {
      const double angle = Angle{}(t, static_cast<double>(c / 2), d);
      return c % 2 == 0 ? std::sin(angle) : std::cos(angle);
    });
  };
}

double paper_frequency(double k, double dim) { return std::pow(10000, -2 * k / dim); }

TEST_CASE("exercise sinusoidal: the solution passes") {
  CHECK(graded(grade_sinusoidal, sinusoidal_with_angle([](double t, double k, double d) {
                 return t * paper_frequency(k, d);
               })) == "");
}

TEST_CASE("exercise sinusoidal: the stub and mistakes are named") {
  CHECK_NAMED("nothing is computed yet", grade_sinusoidal,
              sinusoidal_stub::heed::course::sinusoidal_table);
  CHECK_NAMED("In the paper k starts at 0", grade_sinusoidal,
              sinusoidal_with_angle(
                  [](double t, double k, double d) { return t * paper_frequency(k + 1, d); }));
  CHECK_NAMED("All sines come first, then all cosines. ", grade_sinusoidal,
              [](int64_t length, int64_t dim) {
                return sinusoidal_table_of(length, dim, [](double t, int64_t c, double d) {
                  const auto half = static_cast<int64_t>(d) / 2;
                  const double angle = t * paper_frequency(static_cast<double>(c % half), d);
                  return c < half ? std::sin(angle) : std::cos(angle);
                });
              });
  CHECK_NAMED("and k starts at 1", grade_sinusoidal, [](int64_t length, int64_t dim) {
    return sinusoidal_table_of(length, dim, [](double t, int64_t c, double d) {
      const auto half = static_cast<int64_t>(d) / 2;
      const double angle = t * paper_frequency(static_cast<double>(c % half + 1), d);
      return c < half ? std::sin(angle) : std::cos(angle);
    });
  });
  CHECK_NAMED("are exchanged", grade_sinusoidal, [](int64_t length, int64_t dim) {
    return sinusoidal_table_of(length, dim, [](double t, int64_t c, double d) {
      const double angle = t * paper_frequency(static_cast<double>(c / 2), d);
      return c % 2 == 0 ? std::cos(angle) : std::sin(angle);
    });
  });
  CHECK_NAMED("only sines", grade_sinusoidal, [](int64_t length, int64_t dim) {
    return sinusoidal_table_of(length, dim, [](double t, int64_t c, double d) {
      return std::sin(t * paper_frequency(static_cast<double>(c / 2), d));
    });
  });
  CHECK_NAMED("has the column instead", grade_sinusoidal, [](int64_t length, int64_t dim) {
    return sinusoidal_table_of(length, dim, [](double t, int64_t c, double d) {
      const double angle = t * std::pow(10000, -static_cast<double>(c) / d);
      return c % 2 == 0 ? std::sin(angle) : std::cos(angle);
    });
  });
  CHECK_NAMED("k/D instead of 2k/D", grade_sinusoidal,
              sinusoidal_with_angle(
                  [](double t, double k, double d) { return t * std::pow(10000, -k / d); }));
  CHECK_NAMED("not 2k/(D/2)", grade_sinusoidal,
              sinusoidal_with_angle([](double t, double k, double d) {
                return t * std::pow(10000, -2 * k / (d / 2));
              }));
  CHECK_NAMED("D/2 - 1", grade_sinusoidal, sinusoidal_with_angle([](double t, double k, double d) {
                return t * std::pow(10000, -k / std::max(1.0, d / 2 - 1));
              }));
  CHECK_NAMED("division of integers", grade_sinusoidal,
              sinusoidal_with_angle([](double t, double k, double d) {
                const auto whole = static_cast<int64_t>(k);
                return t *
                       std::pow(10000, -static_cast<double>(2 * whole / static_cast<int64_t>(d)));
              }));
  CHECK_NAMED("grow with k", grade_sinusoidal,
              sinusoidal_with_angle(
                  [](double t, double k, double d) { return t * std::pow(10000, 2 * k / d); }));
  CHECK_NAMED(
      "The base is e", grade_sinusoidal,
      sinusoidal_with_angle([](double t, double k, double d) { return t * std::exp(-2 * k / d); }));
  CHECK_NAMED("in degrees", grade_sinusoidal,
              sinusoidal_with_angle([](double t, double k, double d) {
                return t * paper_frequency(k, d) * std::acos(-1.0) / 180;
              }));
  CHECK_NAMED("A factor 2π", grade_sinusoidal,
              sinusoidal_with_angle([](double t, double k, double d) {
                return t * paper_frequency(k, d) * 2 * std::acos(-1.0);
              }));
  CHECK_NAMED("Positions start at 1", grade_sinusoidal,
              sinusoidal_with_angle(
                  [](double t, double k, double d) { return (t + 1) * paper_frequency(k, d); }));
  CHECK_NAMED("is transposed", grade_sinusoidal, [](int64_t length, int64_t dim) {
    const Tensor table = sinusoidal_table_of(length, dim, [](double t, int64_t c, double d) {
      const double angle = t * paper_frequency(static_cast<double>(c / 2), d);
      return c % 2 == 0 ? std::sin(angle) : std::cos(angle);
    });
    return transpose(table, 0, 1);
  });
}

}  // namespace
}  // namespace heed::course
