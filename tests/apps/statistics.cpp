// Statistics of scores over seeds: SciPy's numbers (tests/fixtures/make_statistics.py), and cases
// by hand.
#include "apps/experiments/statistics.h"

#include <cmath>
#include <limits>
#include <sstream>

#include "apps/support/files.h"
#include "temporary.h"

using namespace heed;

namespace {

using Values = std::vector<double>;
constexpr double infinity = std::numeric_limits<double>::infinity();

doctest::Approx close_to(double value, double difference = 0) {
  return doctest::Approx(value).epsilon(1e-12 + difference);
}

// A line of the fixture: a function, its values, its results.
struct Case {
  std::string function;
  Values values, results;

  explicit Case(const std::string& line) {
    std::istringstream words(line);
    size_t count = 0;
    words >> function >> count;
    for (std::string word; words >> word;)
      (values.size() < count ? values : results).push_back(std::stod(word));
  }
};

// The results of heed for the same values.
Values results_of(const Case& each) {
  if (each.function == "sign_flip") return {sign_flip_p(each.values)};
  if (each.function == "student") {
    const MeanInterval mean = student_mean(each.values);
    CHECK(mean.n == std::ssize(each.values));
    return {mean.mean, mean.half_width};
  }
  const Interval interval = bca_interval(each.values);
  return {interval.low, interval.high};
}

}  // namespace

TEST_CASE("statistics: means, intervals and p are SciPy's") {
  std::istringstream cases(read_file(HEED_FIXTURES "/statistics.txt", "fixture"));
  int checked = 0;
  for (std::string line; std::getline(cases, line); ++checked) {
    const Case each(line);
    CAPTURE(line);
    const Values results = results_of(each);
    REQUIRE(results.size() == each.results.size());
    const bool drawn = each.function == "bca" && each.values.size() > 6;
    const double tolerance = drawn ? 0.02 * (each.results[1] - each.results[0]) : 1e-12;
    for (size_t i = 0; i < results.size(); ++i)
      CHECK(std::abs(results[i] - each.results[i]) <= tolerance);
  }
  CHECK(checked > 80);
}

TEST_CASE("statistics: one value has a mean, but no interval that says anything") {
  const MeanInterval mean = student_mean(Values{2.5});
  CHECK((mean.n == 1 && mean.mean == 2.5 && mean.half_width == infinity));
  const Interval interval = bca_interval(Values{2.5});
  CHECK((interval.low == -infinity && interval.high == infinity));
  CHECK(sign_flip_p(Values{2.5}) == 1);
  CHECK_FALSE(thrown<Error>([] { student_mean({}); }).empty());
  CHECK_FALSE(thrown<Error>([] { bca_interval({}); }).empty());
  CHECK_FALSE(thrown<Error>([] { sign_flip_p({}); }).empty());
}

TEST_CASE("statistics: equal values have an interval of width 0") {
  for (const size_t n : {2, 6, 30}) {
    const Values values(n, 0.1);
    const Interval interval = bca_interval(values);
    CHECK((interval.low == 0.1 && interval.high == 0.1));
    CHECK(student_mean(values).half_width == doctest::Approx(0));
  }
  CHECK(sign_flip_p(Values(6, 0.1)) == smallest_p(6));
  CHECK(sign_flip_p(Values(6, 0.0)) == 1);
}

TEST_CASE("statistics: an interval moves and scales with the values") {
  const Values values = {0.3, -0.1, 0.25, 0.7, 0.11, 0.2};
  const Interval interval = bca_interval(values);
  Values moved = values, mirrored = values;
  for (double& value : moved) value = 3 + 2 * value;
  for (double& value : mirrored) value = -value;
  CHECK(bca_interval(moved).low == close_to(3 + 2 * interval.low));
  CHECK(bca_interval(moved).high == close_to(3 + 2 * interval.high));
  CHECK(bca_interval(mirrored).low == close_to(-interval.high));
  CHECK(sign_flip_p(mirrored) == sign_flip_p(values));
}

TEST_CASE("statistics: drawn resamples and signs are the same on each call, near the exact ones") {
  Values values;
  for (int i = 0; i < 24; ++i) values.push_back(0.4 + std::sin(i * 1.7));
  const Interval interval = bca_interval(values), again = bca_interval(values);
  CHECK((interval.low == again.low && interval.high == again.high));
  const MeanInterval student = student_mean(values);
  CHECK(interval.low == doctest::Approx(student.mean - student.half_width).epsilon(0.2));
  CHECK(interval.high == doctest::Approx(student.mean + student.half_width).epsilon(0.2));
  const double p = sign_flip_p(values);
  CHECK(p == sign_flip_p(values));
  values.resize(20);
  const double exact = sign_flip_p(values);
  values.push_back(0);  // changes no sum, but is one too many for all choices
  CHECK(sign_flip_p(values) == doctest::Approx(exact).epsilon(0.05));
}

TEST_CASE("statistics: Holm multiplies the smallest p by the number of comparisons") {
  CHECK(holm({}).empty());
  CHECK(holm(Values{0.03}) == Values{0.03});
  // 4 · 0.005, 3 · 0.01, 2 · 0.03, and 0.04, which stays behind 0.06.
  const Values adjusted = holm(Values{0.01, 0.04, 0.03, 0.005});
  const Values expected = {0.03, 0.06, 0.06, 0.02};
  for (size_t i = 0; i < expected.size(); ++i) CHECK(adjusted[i] == close_to(expected[i]));
  CHECK(holm(Values{0.6, 0.7}) == Values{1, 1});
}

TEST_CASE("statistics: from six seeds on a p below 0.05 is possible") {
  CHECK(smallest_p(5) == 0.0625);
  CHECK(smallest_p(6) == 0.03125);
  CHECK(smallest_p(6, 3) == 0.09375);
  CHECK(smallest_p(1, 3) == 1);
  CHECK(least_differences() == 6);
  CHECK(least_differences(2) == 7);
  CHECK(least_differences(3) == 7);
}

TEST_CASE("statistics: a median is infinite only if half of the values are") {
  CHECK(median_of({3, 1, 2}) == 2);
  CHECK(median_of({4, 1, 2, 3}) == 2.5);
  CHECK(median_of({1, infinity, 2}) == 2);
  CHECK(median_of({1, infinity}) == infinity);
  CHECK(median_of({infinity, infinity}) == infinity);
  CHECK_FALSE(thrown<Error>([] { median_of({}); }).empty());
}
