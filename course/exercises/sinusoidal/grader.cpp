#include "course/grader/grader.h"

#include <algorithm>
#include <cmath>

namespace heed::course {

[[gnu::weak]] Tensor sinusoidal_table(int64_t length, int64_t dim);

void grade_sinusoidal(Grader& g, Tensor (*sinusoidal_table)(int64_t length, int64_t dim)) {
  const auto check = [&](int64_t length, int64_t dim) {
    const auto d = static_cast<double>(dim);
    // A table with these frequencies: φ(t) = sin or cos of (t + first) ω(k).
    const auto interleaved = [](auto frequency, double first = 0) -> Definition {
      return [=](Arrays, const Index& i) {
        const double angle =
            (static_cast<double>(i[0]) + first) * frequency(static_cast<double>(i[1] / 2));
        return i[1] % 2 == 0 ? std::sin(angle) : std::cos(angle);
      };
    };
    const auto halves = [=](auto frequency) -> Definition {
      return [=](Arrays, const Index& i) {
        const double angle =
            static_cast<double>(i[0]) * frequency(static_cast<double>(i[1] % (dim / 2)));
        return i[1] < dim / 2 ? std::sin(angle) : std::cos(angle);
      };
    };
    const auto right = [=](double k) { return std::pow(10000, -2 * k / d); };
    const auto per_column = [=](Arrays, const Index& i) {
      const double angle =
          static_cast<double>(i[0]) * std::pow(10000, -static_cast<double>(i[1]) / d);
      return i[1] % 2 == 0 ? std::sin(angle) : std::cos(angle);
    };
    g.check(
        {.name = fmt::format("a table {}", Shape{length, dim}),
         .inputs = {},
         .result = {length, dim},
         .op = [=](Tensors) { return sinusoidal_table(length, dim); },
         .definition = interleaved(right)},
        {wrong_value("k starts at 1, so the fastest frequency is missing. In the paper k starts at "
                     "0, with ω = 1.",
                     interleaved([=](double k) { return right(k + 1); })),
         wrong_value("All sines come first, then all cosines. That layout exists too, but the "
                     "paper's has each sine next to its cosine.",
                     halves(right)),
         wrong_value("All sines come first, then all cosines, and k starts at 1.",
                     halves([=](double k) { return right(k + 1); })),
         wrong_value("Sine and cosine are exchanged: even columns are sines.",
                     [=](Arrays, const Index& i) {
                       const double angle =
                           static_cast<double>(i[0]) * right(static_cast<double>(i[1] / 2));
                       return i[1] % 2 == 0 ? std::cos(angle) : std::sin(angle);
                     }),
         wrong_value("There are only sines: odd columns are cosines.",
                     [=](Arrays, const Index& i) {
                       return std::sin(static_cast<double>(i[0]) *
                                       right(static_cast<double>(i[1] / 2)));
                     }),
         wrong_value("The sine and the cosine of a pair have different frequencies: the exponent "
                     "has the column instead of 2k.",
                     per_column),
         wrong_value("The exponent is k/D instead of 2k/D: the frequencies end at 1/100 instead of "
                     "nearly 1/10000.",
                     interleaved([=](double k) { return std::pow(10000, -k / d); })),
         wrong_value("The exponent is 2k/D, not 2k/(D/2): every second frequency is missing.",
                     interleaved([=](double k) { return std::pow(10000, -4 * k / d); })),
         wrong_value(
             "The divisor is D/2 - 1, so that the last frequency is exactly 1/10000. Some "
             "libraries do it; the paper's exponent is 2k/D.",
             interleaved([=](double k) { return std::pow(10000, -k / std::max(d / 2 - 1, 1.0)); })),
         wrong_value("All frequencies are 1: 2 * k / dim is a division of integers, which gives 0.",
                     interleaved([](double) { return 1.0; })),
         wrong_value("The frequencies grow with k: the sign of the exponent is missing.",
                     interleaved([=](double k) { return 1 / right(k); })),
         wrong_value("The base is e: exp(-2k/D) lacks the factor log 10000.",
                     interleaved([=](double k) { return std::exp(-2 * k / d); })),
         wrong_value("The angles are in degrees; std::sin takes radians.",
                     interleaved([=](double k) { return right(k) * std::acos(-1.0) / 180; })),
         wrong_value("A factor 2π is in the angles: ωₖ is an angle for each position already.",
                     interleaved([=](double k) { return right(k) * 2 * std::acos(-1.0); })),
         wrong_value("Positions start at 1. The first position is 0: sin 0 = 0, cos 0 = 1.",
                     interleaved(right, 1)),
         wrong_value(
             "The table is transposed: rows are positions.",
             [=](Arrays, const Index& i) {
               const double angle =
                   static_cast<double>(i[1]) * right(static_cast<double>(i[0] / 2));
               return i[0] % 2 == 0 ? std::sin(angle) : std::cos(angle);
             },
             Shape{dim, length})});
  };
  check(g.size(4, 7), 2 * g.size(4, 6));
  check(g.size(2, 3), 2);
  check(1, 2 * g.size(1, 5));
  check(g.size(200, 300), 2 * g.size(2, 3));
}
HEED_GRADE(sinusoidal, sinusoidal_table);

}  // namespace heed::course
