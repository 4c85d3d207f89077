// Every claim of the source documents (docs/sources.md) is measured and holds.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <set>

#include "theorems/theorem.h"

using namespace heed::theorems;

TEST_CASE("every claim of the documents holds") {
  Measurements m(1, {});
  measure_all(m);
  CHECK(m.ids().size() == 71);
  std::set<std::string> ids;
  for (const Section& section : m.sections())
    for (const Theorem& t : section.theorems) {
      CAPTURE(t.id);
      CAPTURE(t.claim);
      CAPTURE(t.measured);
      ids.insert(t.id);
      CHECK(t.holds());
      CHECK(!t.source.empty());
      CHECK(std::isfinite(t.measured));
      CHECK(std::isfinite(t.bound));
    }
  for (int i = 1; i <= 52; ++i) CHECK(ids.contains("A" + std::to_string(i)));
  for (int i = 1; i <= 19; ++i) CHECK(ids.contains("Q" + std::to_string(i)));
  CHECK(ids.size() == 71);
}

TEST_CASE("the claims that are selected give the same values as among all") {
  const auto measured = [](uint64_t seed, const std::vector<std::string>& only) {
    Measurements m(seed, only);
    measure_all(m);
    std::vector<double> values;
    for (const Section& section : m.sections())
      for (const Theorem& t : section.theorems)
        if (t.id == "A16" || t.id == "Q11") values.push_back(t.measured);
    return values;
  };
  const std::vector<double> selected = measured(1, {"A16", "Q11"});
  CHECK(selected.size() == 7);
  CHECK(selected == measured(1, {}));
  CHECK(selected != measured(2, {"A16", "Q11"}));
}

TEST_CASE("claims about random inputs hold for another seed") {
  Measurements m(3, {"A16", "A17", "A20", "A22"});
  measure_all(m);
  CHECK(all_hold(m.sections()));
}

TEST_CASE("a measured value beyond its bound, or not finite, fails") {
  const auto holds = [](bool is_lower_bound, double measured, double bound) {
    Measurements m(1, {});
    m.section("test");
    const auto measure = [measured] { return measured; };
    if (is_lower_bound)
      m.at_least("A1", bound, "S0", "a claim", measure);
    else
      m.at_most("A1", bound, "S0", "a claim", measure);
    return all_hold(m.sections());
  };
  CHECK(holds(false, 1e-6, 1e-5));
  CHECK(!holds(false, 1e-4, 1e-5));
  CHECK(holds(true, 0.1, 1e-2));
  CHECK(!holds(true, 1e-6, 1e-2));
  for (const bool is_lower_bound : {false, true}) CHECK(!holds(is_lower_bound, std::nan(""), 0.1));
  CHECK(!holds(false, std::numeric_limits<double>::infinity(), 1e-5));
}
