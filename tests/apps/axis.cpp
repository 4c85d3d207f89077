// The rules of axes in still drawings are those of pages: tests/fixtures/make_axis.mjs wrote what
// lab/page/scale.js says, and tests/javascript/scale.test.js holds it to that, too.
#include "apps/support/axis.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "apps/support/json.h"

using namespace heed;

TEST_CASE("ticks and thinned lines are those of the pages") {
  const std::filesystem::path tests = std::filesystem::path(__FILE__).parent_path().parent_path();
  const Json known = read_json(tests / "fixtures/axis.json", "axes", 1 << 20);
  CHECK(known.at("ticks").elements().size() > 200);
  for (const Json& row : known.at("ticks").elements()) {
    const double low = row.at("low").number(), high = row.at("high").number();
    const auto ticks =
        ticks_of(row.at("log").flag(), low, high, static_cast<int>(row.at("most").integer()));
    const auto& expected = row.at("ticks").elements();
    CAPTURE(row.text());
    REQUIRE(ticks.size() == expected.size());
    for (size_t i = 0; i < ticks.size(); ++i) CHECK(ticks[i] == expected[i].number());
  }
  std::vector<double> values;
  for (const Json& value : known.at("values").elements()) values.push_back(value.number());
  for (const Json& row : known.at("thinned").elements()) {
    Json kept = Json::array();
    for (const size_t i : thinned(values, static_cast<size_t>(row.at("most").integer())))
      kept.push(static_cast<int64_t>(i));
    CHECK(kept.text() == row.at("kept").text());
  }
}

TEST_CASE("a thinned line keeps its ends, and the minimum and maximum of every part") {
  std::vector<double> values;
  for (int i = 0; i < 100'000; ++i)
    values.push_back(i == 31'234 ? 9.0 : i == 77'777 ? -9.0 : (i % 97) / 97.0);
  for (const size_t most : {4, 5, 100, 2000}) {
    const std::vector<size_t> kept = thinned(values, most);
    CAPTURE(most);
    CHECK(kept.size() <= most);
    CHECK(kept.size() + 2 >= most);
    CHECK(std::ranges::is_sorted(kept, std::less_equal()));
    CHECK(kept.front() == 0);
    CHECK(kept.back() == 99'999);
    for (const size_t peak : {31'234, 77'777}) CHECK(std::ranges::count(kept, peak) == 1);
  }
  CHECK(thinned({3, 1, 2}, 4) == std::vector<size_t>{0, 1, 2});
}

TEST_CASE("losses over more than a factor of 30 are logarithmic") {
  CHECK(wants_log(0.01, 1));
  CHECK_FALSE(wants_log(0.1, 1));
  CHECK_FALSE(wants_log(-1, 100));
  CHECK_FALSE(wants_log(0, 100));
}
