// Statistics of scores over seeds: SciPy's numbers (tests/fixtures/make_statistics.py), and cases
// by hand.
#include "lab/experiments/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <sstream>

#include "apps/support/files.h"
#include "core/random.h"
#include "lab/measure/median.h"
#include "temporary.h"

using namespace heed;

namespace {

using Numbers = std::vector<double>;
constexpr double infinity = std::numeric_limits<double>::infinity();

doctest::Approx close_to(double value, double difference = 0) {
  return doctest::Approx(value).epsilon(1e-12 + difference);
}

// A line of the fixture: a function, its values, its results.
struct ScipyCase {
  std::string function;
  Numbers values, results;

  explicit ScipyCase(const std::string& line) {
    std::istringstream words(line);
    size_t count = 0;
    words >> function >> count;
    for (std::string word; words >> word;)
      (values.size() < count ? values : results).push_back(std::stod(word));
  }
};

// The results of heed for the same values.
Numbers results_of(const ScipyCase& each) {
  const auto mean_and_limits = [](const MeanInterval& mean) {
    return Numbers{mean.mean, mean.interval.low, mean.interval.high};
  };
  if (each.function == "geometric") return mean_and_limits(geometric_mean(each.values));
  if (each.function == "logit") return mean_and_limits(logit_mean(each.values, 1));
  if (each.function == "holm") return holm(each.values);
  if (each.function == "wilson") {
    const Interval interval =
        wilson_interval(each.values[0] / each.values[1], static_cast<int64_t>(each.values[1]));
    return {interval.low, interval.high};
  }
  if (each.function == "sign_flip" || each.function == "many_signs")
    return {sign_flip_p(each.values)};
  if (each.function == "student") {
    const MeanInterval mean = student_mean(each.values);
    CHECK(mean.n == std::ssize(each.values));
    return {mean.mean, mean.half_width};
  }
  // One side, then the other.
  const size_t n = each.values.size() / 2;
  const bool by_ratio = each.function == "ratio";
  Numbers differences;
  for (size_t i = 0; i < n; ++i)
    differences.push_back(by_ratio ? std::log(each.values[n + i]) - std::log(each.values[i])
                                   : each.values[n + i] - each.values[i]);
  const Effect effect = by_ratio ? ratio_of(differences) : difference_of(differences);
  return {effect.size, effect.interval.low, effect.interval.high, effect.p};
}

}  // namespace

TEST_CASE("statistics: means, intervals and p are SciPy's, or those of another definition") {
  std::istringstream cases(read_file(HEED_FIXTURES "/statistics.txt", "fixture"));
  int checked = 0;
  for (std::string line; std::getline(cases, line); ++checked) {
    const ScipyCase each(line);
    CAPTURE(line);
    const Numbers results = results_of(each);
    REQUIRE(results.size() == each.results.size());
    for (size_t i = 0; i < results.size(); ++i) {
      const double expected = each.results[i];
      // Signs that are drawn: five standard errors of 65,536 draws.
      const double error = each.function == "many_signs"
                               ? 5 * std::sqrt(expected * (1 - expected) / 65'536) + 1. / 65'536
                               : 1e-12 * std::max(1.0, expected);
      CHECK(std::abs(results[i] - expected) <= error);
    }
  }
  CHECK(checked > 200);
}

TEST_CASE("statistics: one value has a mean, but no interval that says anything") {
  const MeanInterval mean = student_mean(Numbers{2.5});
  CHECK((mean.n == 1 && mean.mean == 2.5 && mean.half_width == infinity));
  const Effect difference = difference_of(Numbers{2.5}), ratio = ratio_of(Numbers{2.5});
  CHECK((difference.interval.low == -infinity && difference.interval.high == infinity));
  CHECK((ratio.interval.low == 0 && ratio.interval.high == infinity));
  CHECK((std::isnan(difference.p) && std::isnan(ratio.p)));
  CHECK_FALSE(thrown<Error>([] { student_mean({}); }).empty());
  CHECK_FALSE(thrown<Error>([] { difference_of({}); }).empty());
  CHECK_FALSE(thrown<Error>([] { sign_flip_p({}); }).empty());
}

TEST_CASE("statistics: equal values have an interval of width 0, and no p") {
  for (const size_t n : {2, 6, 30}) {
    CHECK(student_mean(Numbers(n, 0.1)).half_width == doctest::Approx(0));
    const Effect effect = difference_of(Numbers(n, 0.1));
    CHECK((effect.interval.low == effect.size && effect.interval.high == effect.size));
    CHECK(std::isnan(effect.p));
  }
  CHECK(sign_flip_p(Numbers(least_flipped, 0.1)) < 0.05);
  CHECK(sign_flip_p(Numbers(least_flipped - 1, 0.1)) > 0.05);
  CHECK(sign_flip_p(Numbers(6, 0.0)) == 1);
}

TEST_CASE("statistics: an effect moves and scales with the values, a ratio is turned over") {
  const Numbers values = {0.3, -0.1, 0.25, 0.7, 0.11, 0.2};
  const Effect effect = difference_of(values), ratio = ratio_of(values);
  Numbers moved = values, mirrored = values;
  for (double& value : moved) value = 3 + 2 * value;
  for (double& value : mirrored) value = -value;
  CHECK(difference_of(moved).interval.low == close_to(3 + 2 * effect.interval.low));
  CHECK(difference_of(moved).interval.high == close_to(3 + 2 * effect.interval.high));
  CHECK(difference_of(mirrored).interval.low == close_to(-effect.interval.high));
  CHECK(ratio_of(mirrored).size == close_to(1 / ratio.size));
  CHECK(ratio_of(mirrored).interval.low == close_to(1 / ratio.interval.high));
  CHECK(sign_flip_p(mirrored) == sign_flip_p(values));
}

TEST_CASE("statistics: drawn signs are the same on each call, and near the exact p") {
  Numbers values;
  for (int i = 0; i < 24; ++i) values.push_back(0.4 + std::sin(i * 1.7));
  CHECK(sign_flip_p(values) == sign_flip_p(values));
  values.resize(20);
  const double exact = sign_flip_p(values);
  values.push_back(0);  // changes no sum, but is one too many for all choices
  CHECK(sign_flip_p(values) == doctest::Approx(exact).epsilon(0.05));
}

namespace {

constexpr int simulated = 10'000;

// The percentage of simulated comparisons of n seeds whose interval contains the true mean
// difference. `draw` returns differences whose mean is `truth`.
template <class Draw>
double coverage(int64_t n, double truth, const Draw& draw) {
  Random random(static_cast<uint64_t>(n), Purpose::test);
  Numbers differences(static_cast<size_t>(n));
  int covered = 0;
  for (int i = 0; i < simulated; ++i) {
    for (double& each : differences) each = draw(random);
    const MeanInterval mean = student_mean(differences);  // the interval of difference_of()
    covered += std::abs(mean.mean - truth) <= mean.half_width;
  }
  return 100.0 * covered / simulated;
}

// The rows of a table of coverages in a document: n, normal, uniform, log-normal.
std::map<int64_t, std::vector<double>> coverages_in(const std::string& path) {
  std::map<int64_t, std::vector<double>> rows;
  std::istringstream lines(read_file(HEED_FIXTURES "/../../" + path, "document"));
  bool in_table = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("| log-normal |") != line.npos) in_table = true;
    if (!line.starts_with("|")) in_table = false;
    if (!in_table) continue;
    for (char& c : line)
      if (c == '|' || c == '%') c = ' ';
    std::istringstream cells(line);
    int64_t n = 0;
    Numbers values;
    if (cells >> n)
      for (double value = 0; cells >> value;) values.push_back(value);
    if (!values.empty()) rows[n] = values;
  }
  return rows;
}

}  // namespace

TEST_CASE("statistics: 95 % intervals contain the truth as often as the document says") {
  const auto in_docs = coverages_in("docs/experiments.md");
  CHECK(in_docs.size() >= 6);
  const double log_normal_mean = std::exp(0.5);
  for (int64_t n = 2; n <= 20; ++n) {
    const double found[] = {
        coverage(n, 0, [](Random& random) { return random.normal(); }),
        coverage(n, 0.5, [](Random& random) { return random.uniform(); }),
        coverage(n, log_normal_mean, [](Random& random) { return std::exp(random.normal()); })};
    CHECK(std::abs(found[0] - 95) <= 1);
    CHECK(found[1] >= 91);
    CHECK(found[2] >= 80);
    if (const auto row = in_docs.find(n); row != in_docs.end()) {
      REQUIRE(row->second.size() == 3);
      for (size_t i = 0; i < 3; ++i) CHECK(std::abs(row->second[i] - found[i]) <= 0.2);
    }
  }
}

TEST_CASE("statistics: an interval of fractions stays inside its limits and contains the mean") {
  const auto check_limits = [](const MeanInterval& mean, const Numbers& values, double most,
                               IntervalKind kind) {
    CHECK(mean.kind == kind);
    CHECK((0 <= mean.interval.low && mean.interval.low <= mean.mean));
    CHECK((mean.mean <= mean.interval.high && mean.interval.high <= most));
    CHECK(mean.mean == student_mean(values).mean);
  };
  for (const auto& [values, most] :
       {std::pair(Numbers{0, 0.001, 0}, 1.0), {{1, 0.999, 1, 1}, 1}, {{99, 20}, 100}, {{0, 1}, 1}})
    check_limits(logit_mean(values, most), values, most, IntervalKind::logit);
  for (const double equal : {0.0, 0.3, 1.0})
    for (const Numbers& values : {Numbers(3, equal), {equal}})
      check_limits(wilson_mean(values, 50), values, 1, IntervalKind::wilson);
  CHECK(logit_mean(Numbers{0.5}, 1).kind == IntervalKind::none);
  CHECK(logit_mean(Numbers{0.5, 0.5}, 1).half_width == 0);
  // Small spreads near the middle: Student's own interval.
  const Numbers near = {0.5, 0.501, 0.499, 0.5005};
  const MeanInterval logit = logit_mean(near, 1), student = student_mean(near);
  CHECK(logit.half_width == doctest::Approx(student.half_width).epsilon(1e-4));
  // Wilson 1927: 8 of 10 is 0.4902 … 0.9433.
  CHECK(wilson_interval(0.8, 10).low == doctest::Approx(0.49016).epsilon(1e-4));
  CHECK(wilson_interval(0.8, 10).high == doctest::Approx(0.94331).epsilon(1e-4));
  CHECK(wilson_interval(0, 10).low == 0);
  CHECK(wilson_interval(1, 10).high == 1);
}

TEST_CASE("statistics: logit and Wilson intervals contain the truth as often as they claim") {
  // Fractions of seeds: uⁿ of a uniform u has the mean 1 / (n + 1), near 0 or near 1, and is
  // skewed.
  const auto covered = [](int64_t n, double power, bool near_one, bool logit) {
    Random random(static_cast<uint64_t>(n), Purpose::test);
    const double mean = 1 / (power + 1), truth = near_one ? 1 - mean : mean;
    int count = 0;
    for (int i = 0; i < simulated; ++i) {
      Numbers fractions(static_cast<size_t>(n));
      for (double& each : fractions) {
        const double fraction = std::pow(random.uniform(), power);
        each = near_one ? 1 - fraction : fraction;
      }
      const Interval interval =
          logit ? logit_mean(fractions, 1).interval : student_mean(fractions).interval;
      count += interval.low <= truth && truth <= interval.high;
    }
    return 100.0 * count / simulated;
  };
  for (const int64_t n : {3, 6, 12}) {
    CHECK(std::abs(covered(n, 1, false, true) - 95) <= 3);  // uniform
    for (const double power : {4.0, 9.0})
      for (const bool near_one : {false, true})
        CHECK(covered(n, power, near_one, true) > covered(n, power, near_one, false));
  }
  for (const double truth : {0.02, 0.3, 0.9})
    for (const int64_t examples : {50, 400}) {
      Random random(static_cast<uint64_t>(examples), Purpose::test);
      int count = 0;
      for (int i = 0; i < 2000; ++i) {
        int64_t correct = 0;
        for (int64_t example = 0; example < examples; ++example)
          correct += random.uniform() < truth;
        const Interval interval =
            wilson_interval(static_cast<double>(correct) / static_cast<double>(examples), examples);
        count += interval.low <= truth && truth <= interval.high;
      }
      CHECK(std::abs(100.0 * count / 2000 - 95) <= 3);
    }
}

TEST_CASE("statistics: Holm's p below 0.05 is a false alarm in at most 5.5 % of families") {
  constexpr size_t seeds = 9, variants = 4;
  int alarms = 0, uncorrected = 0;
  Random random(1, Purpose::test);
  for (int family = 0; family < simulated; ++family) {
    double reference[seeds];
    for (double& score : reference) score = random.normal();
    Numbers p;
    for (size_t v = 0; v < variants; ++v) {
      Numbers differences;
      for (const double score : reference) differences.push_back(random.normal() - score);
      p.push_back(difference_of(differences).p);
    }
    const auto is_alarm = [](double each) { return each < 0.05; };
    uncorrected += std::ranges::any_of(p, is_alarm);
    alarms += std::ranges::any_of(holm(p), is_alarm);
  }
  const std::string document = read_file(HEED_FIXTURES "/../../docs/experiments.md", "document");
  CHECK_CONTAINS(document,
                 fmt::format("some p is below 0.05 in {:.1f} %, and some p (Holm) in {:.1f} %",
                             uncorrected * 100.0 / simulated, alarms * 100.0 / simulated));
  CHECK(alarms <= 0.055 * simulated);
  CHECK(uncorrected > 0.08 * simulated);  // without the correction there are many
  CHECK(alarms > 0.01 * simulated);
}

TEST_CASE("statistics: Holm multiplies the smallest p by the number of comparisons") {
  CHECK(holm({}).empty());
  CHECK(holm(Numbers{0.03}) == Numbers{0.03});
  // 4 · 0.005, 3 · 0.01, 2 · 0.03, and 0.04, which stays behind 0.06.
  const Numbers adjusted = holm(Numbers{0.01, 0.04, 0.03, 0.005});
  const Numbers expected = {0.03, 0.06, 0.06, 0.02};
  for (size_t i = 0; i < expected.size(); ++i) CHECK(adjusted[i] == close_to(expected[i]));
  CHECK(holm(Numbers{0.6, 0.7}) == Numbers{1, 1});
}

TEST_CASE("statistics: a median is infinite only if half of the values are") {
  CHECK(median_of({3, 1, 2}) == 2);
  CHECK(median_of({4, 1, 2, 3}) == 2.5);
  CHECK(median_of({1, infinity, 2}) == 2);
  CHECK(median_of({1, infinity}) == infinity);
  CHECK(median_of({infinity, infinity}) == infinity);
  CHECK_FALSE(thrown<Error>([] { median_of({}); }).empty());
}
