#include "course/grader/grader.h"

#include <algorithm>
#include <cmath>

#include "course/exercises/paired-interval/interval.h"

namespace heed::course {

[[gnu::weak]] RatioInterval paired_interval(const std::vector<double>& a,
                                            const std::vector<double>& b, double t);

namespace {
namespace paired_interval_answers {

using Losses = std::vector<double>;

// What may go wrong. The right answer has none of these.
struct Slip {
  double divisor_less = 1;  // s² is divided by n minus this
  double roots_of_n = 1;    // s is divided by √n, this many times
  double t = 0;             // instead of the given one
  bool variance = false, unpaired = false, inverse = false, differences = false;
  bool mean_of_ratios = false, without_exp = false;
};

double mean_of(const Losses& x) {
  double sum = 0;
  for (const double v : x) sum += v;
  return sum / static_cast<double>(x.size());
}
double variance_of(const Losses& x, double divisor_less) {
  const double mean = mean_of(x);
  double squares = 0;
  for (const double v : x) squares += (v - mean) * (v - mean);
  return squares / (static_cast<double>(x.size()) - divisor_less);
}

RatioInterval interval_with(const Slip& slip, const Losses& a, const Losses& b, double given_t) {
  Losses d, logs_a, logs_b;
  for (size_t i = 0; i < a.size(); ++i) {
    logs_a.push_back(std::log(a[i]));
    logs_b.push_back(std::log(b[i]));
    d.push_back(slip.differences      ? b[i] - a[i]
                : slip.mean_of_ratios ? b[i] / a[i]
                : slip.inverse        ? logs_a[i] - logs_b[i]
                                      : logs_b[i] - logs_a[i]);
  }
  double variance = variance_of(d, slip.divisor_less);
  if (slip.unpaired) variance = variance_of(logs_a, 1) + variance_of(logs_b, 1);
  const double s = slip.variance ? variance : std::sqrt(variance), mean = mean_of(d);
  const double n = static_cast<double>(a.size());
  const double half = (slip.t > 0 ? slip.t : given_t) * s / std::pow(n, slip.roots_of_n / 2);
  const auto out = [&](double x) {
    return slip.differences || slip.mean_of_ratios || slip.without_exp ? x : std::exp(x);
  };
  return {out(mean), out(mean - half), out(mean + half)};
}

}  // namespace paired_interval_answers
}  // namespace

void grade_paired_interval(Grader& g, decltype(&paired_interval) answer) {
  namespace answers = paired_interval_answers;
  const auto check = [&](const char* name, const answers::Losses& a, const answers::Losses& b,
                         double t) {
    if (!g.passed()) return;
    const RatioInterval got = answer(a, b, t), expected = answers::interval_with({}, a, b, t);
    constexpr const char* names[] = {"ratio", "low", "high"};
    const bool all_zero = got.ratio == 0 && got.low == 0 && got.high == 0;
    g.check(Numbers{.what = [&](size_t i) { return names[i]; },
                    .got = {got.ratio, got.low, got.high},
                    .expected = {expected.ratio, expected.low, expected.high},
                    .context = fmt::format("{} with {} seeds", name, a.size()),
                    .sentence = all_zero ? "Every number is 0: nothing is computed yet." : ""});
  };
  constexpr double quantiles[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365};  // n = 2 to 8
  const auto random = [&](int64_t n, double factor) {
    answers::Losses a, b;
    for (int64_t i = 0; i < n; ++i) {
      a.push_back(g.number(0.5, 2));
      b.push_back(a.back() * factor * g.number(0.8, 1.2));
    }
    check("losses", a, b, quantiles[n - 2]);
  };
  random(g.size(4, 8), 0.7);
  random(g.size(3, 5), 1.3);
  random(2, 0.9);
  const double loss = g.number(1, 2);
  check("equal losses", {loss, loss, loss}, {loss / 2, loss / 2, loss / 2}, quantiles[1]);
}

namespace {
namespace paired_interval_answers {

template <Slip slip>
RatioInterval slipped(const Losses& a, const Losses& b, double t) {
  return interval_with(slip, a, b, t);
}

const Exercise paired_interval_exercise(
    "paired_interval", grade_paired_interval, {paired_interval},
    {{"", slipped<Slip{}>},
     {"The variance is divided by n. Divide by n - 1: the mean was estimated from the same "
      "numbers.",
      slipped<Slip{.divisor_less = 0}>},
     {"The half width is t · s, how far one more seed may be. For the mean of n seeds, divide s by "
      "√n.",
      slipped<Slip{.roots_of_n = 0}>},
     {"s is divided by n, not by its root.", slipped<Slip{.roots_of_n = 2}>},
     {"The half width is 1.96 · s / √n. That is right for a known deviation. Yours is estimated: "
      "use Student's t.",
      slipped<Slip{.t = 1.96}>},
     {"The half width is s / √n: the factor t is missing.", slipped<Slip{.t = 1}>},
     {"This is the variance s², not its root.", slipped<Slip{.variance = true}>},
     {"The two methods are not compared in pairs: their variances are added. Take the differences "
      "within each seed first.",
      slipped<Slip{.unpaired = true}>},
     {"This is the ratio a / b. The second method divided by the first is b / a.",
      slipped<Slip{.inverse = true}>},
     {"These are differences b - a. Take the logarithms of the ratios.",
      slipped<Slip{.differences = true}>},
     {"This is the mean of the ratios, without logarithms. A ratio of 2 and one of 1/2 must "
      "cancel.",
      slipped<Slip{.mean_of_ratios = true}>},
     {"These are logarithms. Take their exponentials at the end.",
      slipped<Slip{.without_exp = true}>},
     {"low and high are exchanged.",
      [](const Losses& a, const Losses& b, double t) {
        const RatioInterval right = interval_with({}, a, b, t);
        return RatioInterval{right.ratio, right.high, right.low};
      }},
     {"The exponential is taken of the half width, and then added. Add first: the interval of a "
      "ratio is not symmetric.",
      [](const Losses& a, const Losses& b, double t) {
        const RatioInterval right = interval_with({}, a, b, t);
        const double half = right.high / right.ratio;
        return RatioInterval{right.ratio, right.ratio - half, right.ratio + half};
      }},
     {"Ratio and interval are those of the sums of the losses: one hard seed decides alone.",
      [](const Losses& a, const Losses& b, double t) {
        const RatioInterval right = interval_with({}, a, b, t);
        const double ratio = mean_of(b) / mean_of(a), change = ratio / right.ratio;
        return RatioInterval{ratio, right.low * change, right.high * change};
      }}});

}  // namespace paired_interval_answers
}  // namespace
}  // namespace heed::course
