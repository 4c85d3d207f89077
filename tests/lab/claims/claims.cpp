// Every claim of the source documents (docs/sources.md) is measured and holds.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <set>

#include "lab/claims/claim.h"

using namespace heed::claims;

namespace {

// All claims, measured once for all tests.
const std::vector<Topic>& complete_run() {
  static const std::vector<Topic> run = measured(all_topics(), 1, {});
  return run;
}

}  // namespace

TEST_CASE("every claim of the documents holds") {
  std::set<std::string> ids;
  std::vector<double> ratios;
  for (const Topic& topic : complete_run())
    for (const Claim& t : topic.claims) {
      CAPTURE(t.id);
      CAPTURE(t.text);
      CAPTURE(t.measured);
      ids.insert(t.id);
      CHECK(t.holds());
      CHECK(!std::string(t.source).empty());
      CHECK(std::isfinite(t.measured));
      CHECK(std::isfinite(t.bound.value));
      if (t.bound.is_lower) CHECK(t.bound.value > 0);  // else it would hold if nothing was measured
      if (!t.bound.is_lower) CHECK(t.bound.value < 1);
      if (t.id == "Q17") ratios.push_back(t.measured);
    }
  for (int i = 1; i <= 52; ++i) CHECK(ids.contains("A" + std::to_string(i)));
  for (int i = 1; i <= 19; ++i) CHECK(ids.contains("Q" + std::to_string(i)));
  CHECK(ids.size() == 71);
  CHECK(ratios == std::vector<double>{0.5, 0.5, 100});  // of costs, which are exact
}

TEST_CASE("selected claims give the same values as in a complete run") {
  const auto values_of = [](const std::vector<Topic>& topics) {
    std::vector<double> values;
    for (const Topic& topic : topics)
      for (const Claim& t : topic.claims)
        if (t.id == "A16" || t.id == "Q11") values.push_back(t.measured);
    return values;
  };
  const auto selected = [&](uint64_t seed) {
    return values_of(measured(all_topics(), seed, {"A16", "Q11"}));
  };
  CHECK(selected(1).size() == 7);
  CHECK(selected(1) == values_of(complete_run()));
  CHECK(selected(1) != selected(2));
}

TEST_CASE("claims about random inputs hold for another seed") {
  CHECK(all_hold(measured(all_topics(), 3, {"A16", "A17", "A20", "A22"})));
}

TEST_CASE("values beyond the bound, infinite or NaN fail") {
  const auto holds = [](Bound bound, double value) {
    return all_hold(
        measured({{"test", {{"A1", bound, "S0", "a claim", [=] { return value; }}}}}, 1, {}));
  };
  CHECK(holds(at_most(1e-5), 1e-6));
  CHECK(!holds(at_most(1e-5), 1e-4));
  CHECK(holds(heed::claims::at_least(1e-2), 0.1));
  CHECK(!holds(heed::claims::at_least(1e-2), 1e-6));
  for (const Bound bound : {at_most(0.1), heed::claims::at_least(0.1)})
    CHECK(!holds(bound, std::nan("")));
  CHECK(!holds(at_most(1e-5), std::numeric_limits<double>::infinity()));
}
