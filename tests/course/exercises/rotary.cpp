// The exercise rotary: its solution, its stub, and the mistakes that its grader names.
#include <doctest/doctest.h>

#include <cmath>

#include "core/autograd.h"
#include "core/ops.h"
#include "tests/course/exercises/graded.h"

namespace heed::course {

void grade_rotary(Grader& g,
                  Tensor (*rotary)(const Tensor& x, int64_t heads, const RotaryOptions& options));

namespace {

namespace rotary_stub {
using namespace heed;
#include "course/exercises/rotary/exercise.cpp"
}  // namespace rotary_stub

struct RotaryPlace {
  int64_t t, head, k, width, heads;
};

// The solution in loops. Each part may be replaced.
struct RotaryAnswer {
  RotaryOptions options;
  double (*angle)(const RotaryPlace& at, const RotaryOptions& options) =
      [](const RotaryPlace& at, const RotaryOptions& o) {
        return static_cast<double>(o.first_position + at.t) *
               std::pow(o.base, -2.0 * static_cast<double>(at.k) / static_cast<double>(at.width));
      };
  void (*turn)(double a, double b, double alpha, double& to_a,
               double& to_b) = [](double a, double b, double alpha, double& to_a, double& to_b) {
    to_a = a * std::cos(alpha) - b * std::sin(alpha);
    to_b = a * std::sin(alpha) + b * std::cos(alpha);
  };
  double backward_direction = -1;
  bool forgets_first_position = false;

  void rotate(const Shape& shape, int64_t heads, double direction, const RotaryOptions& o,
              const double* x, Destination to) const {
    const int64_t width = shape[2] / heads;
    const bool neighbours = o.layout == RotaryLayout::interleaved;
    for (int64_t row = 0; row < shape[0] * shape[1]; ++row)
      for (int64_t h = 0; h < heads; ++h)
        for (int64_t k = 0; k < width / 2; ++k) {
          const int64_t i = row * shape[2] + h * width + (neighbours ? 2 * k : k);
          const int64_t j = i + (neighbours ? 1 : width / 2);
          double to_a = 0, to_b = 0;
          turn(x[i], x[j], direction * angle({row % shape[1], h, k, width, heads}, o), to_a, to_b);
          to.data[i] = to.accumulate ? to.data[i] + to_a : to_a;
          to.data[j] = to.accumulate ? to.data[j] + to_b : to_b;
        }
  }
  Tensor operator()(const Tensor& x, int64_t heads) const {
    Tensor y = Tensor::empty(x.shape());
    rotate(x.shape(), heads, 1, options, x.data(), {y.mutable_data(), false});
    return record("rotary", y, {x}, [answer = *this, heads](Backward& g) {
      RotaryOptions o = answer.options;
      if (answer.forgets_first_position) o.first_position = 0;
      answer.rotate(g.shape(), heads, answer.backward_direction, o, g.dy(), g.into(0));
    });
  }
};

// An answer that changes a RotaryAnswer.
template <class Change>
auto rotary_with(Change) {
  return [](const Tensor& x, int64_t heads, const RotaryOptions& options) {
    RotaryAnswer answer{options};
    Change{}(answer, heads);
    return answer(x, heads);
  };
}

TEST_CASE("exercise rotary: the solution passes") {
  CHECK(graded(grade_rotary, rotary) == "");
  CHECK(graded(grade_rotary, rotary_with([](RotaryAnswer&, int64_t) {})) == "");
}

TEST_CASE("exercise rotary: the stub and mistakes are named") {
  const auto check_named = [](const char* sentence, auto change) {
    CHECK_NAMED(sentence, grade_rotary, rotary_with(change));
  };
  CHECK_NAMED("nothing is computed yet", grade_rotary, rotary_stub::heed::rotary);
  check_named("that is RotaryLayout::halves",
              [](RotaryAnswer& a, int64_t) { a.options.layout = RotaryLayout::halves; });
  check_named("that is RotaryLayout::interleaved",
              [](RotaryAnswer& a, int64_t) { a.options.layout = RotaryLayout::interleaved; });
  check_named("the other way", [](RotaryAnswer& a, int64_t) {
    a.turn = [](double p, double q, double angle, double& to_p, double& to_q) {
      to_p = p * std::cos(angle) + q * std::sin(angle);
      to_q = q * std::cos(angle) - p * std::sin(angle);
    };
  });
  check_named("options.base is not used", [](RotaryAnswer& a, int64_t) { a.options.base = 10000; });
  check_named("always start at 0", [](RotaryAnswer& a, int64_t) { a.options.first_position = 0; });
  check_named("Positions start at 1", [](RotaryAnswer& a, int64_t) { ++a.options.first_position; });
  check_named("rotated as one head", [](RotaryAnswer&, int64_t& heads) { heads = 1; });
  check_named("a head as wide as x", [](RotaryAnswer& a, int64_t) {
    a.angle = [](const RotaryPlace& at, const RotaryOptions& o) {
      const auto width = static_cast<double>(at.width * at.heads);
      return static_cast<double>(o.first_position + at.t) *
             std::pow(o.base, -2.0 * static_cast<double>(at.k) / width);
    };
  });
  check_named("counted over all heads", [](RotaryAnswer& a, int64_t) {
    a.angle = [](const RotaryPlace& at, const RotaryOptions& o) {
      const auto k = static_cast<double>(at.k + at.head * at.width / 2);
      return static_cast<double>(o.first_position + at.t) *
             std::pow(o.base, -2 * k / static_cast<double>(at.width));
    };
  });
  check_named("-k/K, it must be", [](RotaryAnswer& a, int64_t) {
    a.angle = [](const RotaryPlace& at, const RotaryOptions& o) {
      return static_cast<double>(o.first_position + at.t) *
             std::pow(o.base, -static_cast<double>(at.k) / static_cast<double>(at.width));
    };
  });
  check_named("the fastest frequency", [](RotaryAnswer& a, int64_t) {
    a.angle = [](const RotaryPlace& at, const RotaryOptions& o) {
      const auto k = static_cast<double>(at.k + 1);
      return static_cast<double>(o.first_position + at.t) *
             std::pow(o.base, -2 * k / static_cast<double>(at.width));
    };
  });
  check_named("grow with k", [](RotaryAnswer& a, int64_t) {
    a.angle = [](const RotaryPlace& at, const RotaryOptions& o) {
      return static_cast<double>(o.first_position + at.t) *
             std::pow(o.base, 2.0 * static_cast<double>(at.k) / static_cast<double>(at.width));
    };
  });
  check_named("division of integers", [](RotaryAnswer& a, int64_t) {
    a.angle = [](const RotaryPlace& at, const RotaryOptions& o) {
      return static_cast<double>(o.first_position + at.t) *
             std::pow(o.base, -static_cast<double>(2 * at.k / at.width));
    };
  });
  check_named("after it was rotated", [](RotaryAnswer& a, int64_t) {
    a.turn = [](double p, double q, double angle, double& to_p, double& to_q) {
      to_p = p * std::cos(angle) - q * std::sin(angle);
      to_q = to_p * std::sin(angle) + q * std::cos(angle);
    };
  });
  check_named("Both sines have the same sign", [](RotaryAnswer& a, int64_t) {
    a.turn = [](double p, double q, double angle, double& to_p, double& to_q) {
      to_p = p * std::cos(angle) - q * std::sin(angle);
      to_q = q * std::cos(angle) - p * std::sin(angle);
    };
  });
  check_named("Both sines have the same sign", [](RotaryAnswer& a, int64_t) {
    a.turn = [](double p, double q, double angle, double& to_p, double& to_q) {
      to_p = p * std::cos(angle) + q * std::sin(angle);
      to_q = q * std::cos(angle) + p * std::sin(angle);
    };
  });
  check_named("is added to x", [](RotaryAnswer& a, int64_t) {
    a.turn = [](double p, double q, double angle, double& to_p, double& to_q) {
      to_p = p + std::sin(angle);
      to_q = q + std::cos(angle);
    };
  });
  check_named("x itself", [](RotaryAnswer& a, int64_t) {
    a.turn = [](double p, double q, double, double& to_p, double& to_q) { to_p = p, to_q = q; };
  });
  check_named("rotated forward once more",
              [](RotaryAnswer& a, int64_t) { a.backward_direction = 1; });
  check_named("dy itself", [](RotaryAnswer& a, int64_t) { a.backward_direction = 0; });
  check_named("is used only forward",
              [](RotaryAnswer& a, int64_t) { a.forgets_first_position = true; });
}

}  // namespace
}  // namespace heed::course
