// apps/support/json: values survive a round trip, invalid JSON is rejected.
#include "apps/support/json.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "apps/support/machine.h"
#include "core/check.h"
#include "core/random.h"
#include "temporary.h"

using namespace heed;

TEST_CASE("json: objects keep the order of their members") {
  Json object = Json::object();
  object.set("z", 1).set("a", 0.5).set("m", Json::array()).set("z", true);
  object.set("text", "\"é\n").set("none", Json()).set("list", Json(std::vector<std::string>{"x"}));
  CHECK(object.text() == R"({"z":true,"a":0.5,"m":[],"text":"\"é\n","none":null,"list":["x"]})");
  CHECK(Json::object().set("a", Json::object().set("b", 1)).text(2) ==
        "{\n  \"a\": {\n    \"b\": 1\n  }\n}");
  object.remove("z");
  CHECK(object.find("z") == nullptr);
  CHECK(object.at("a").number() == 0.5);
}

TEST_CASE("json: numbers survive a round trip") {
  Random random(3, Purpose::test);
  for (int i = 0; i < 2000; ++i) {
    const uint64_t bits = uint64_t{random.next()} << 32 | random.next();
    double value = 0;
    std::memcpy(&value, &bits, 8);
    if (!std::isfinite(value)) continue;
    const double back = Json::parse(Json(value).text(), "x").number();
    CHECK(std::memcmp(&back, &value, 8) == 0);
  }
  for (const int64_t value : {std::numeric_limits<int64_t>::min(), int64_t{0},
                              std::numeric_limits<int64_t>::max(), int64_t{1} << 53 | 1})
    CHECK(Json::parse(Json(value).text(), "x").integer() == value);
  CHECK(Json(0.1).text() == "0.1");
  CHECK(Json(3.0).text() == "3.0");
  CHECK(Json(INFINITY).text() == "null");
  CHECK(Json(NAN).text() == "null");
  CHECK(Json::parse("9223372036854775808", "x").number() == 9223372036854775808.0);
}

TEST_CASE("json: invalid UTF-8 is written with replacement characters") {
  CHECK(Json(std::string("a\xFF")).text() == "\"a\xEF\xBF\xBD\"");
}

TEST_CASE("json: parsing takes linear time") {
  std::string text = "{";
  for (int i = 0; i < 200'000; ++i) text += fmt::format("{}\"{}\":0", i ? "," : "", i);
  const double start = cpu_seconds();
  const Json object = Json::parse(text + "}", "x");
  CHECK(object.members().size() == 200'000);
  CHECK(object.text().size() == text.size() + 1);
  CHECK(cpu_seconds() - start < 10);  // quadratic time would be minutes
}

TEST_CASE("json: access with the wrong type is rejected") {
  const Json object = Json::parse(R"({"a":[1,"x"],"b":"t"})", "x");
  CHECK_CONTAINS(thrown<InputError>([&] { object.at("c"); }), "'c' is missing");
  CHECK_CONTAINS(thrown<InputError>([&] { object.at("a").integer(); }),
                 "expected an integer, found [1");
  CHECK_CONTAINS(thrown<InputError>([&] { object.at("b").number(); }),
                 "expected a number, found \"t\"");
  CHECK_CONTAINS(thrown<InputError>([&] { object.at("a").strings(); }),
                 "expected a string, found 1");
  CHECK_CONTAINS(thrown<InputError>([&] { Json(1.5).integer(); }), "found 1.5");
}

TEST_CASE("json: invalid JSON is rejected with file, line and column") {
  const auto error_of = [](const std::string& text) {
    return thrown<InputError>([&] { Json::parse(text, "f.json"); });
  };
  CHECK_CONTAINS(error_of("{\n  \"a\": x}"), "f.json:2:8: not valid JSON");
  for (const char* bad : {"", " ", "{", "[1,]", "{\"a\" 1}", "nul", "1 2", "\"\xFF\"", "01", "NaN",
                          "[1e999]", "\"\\ud800\"", "'a'"})
    CHECK_CONTAINS(error_of(bad), "f.json");
  CHECK_CONTAINS(error_of(R"({"a":1,"a":2})"), "duplicate member 'a'");
  CHECK_CONTAINS(error_of(std::string(1'000'000, '[')), "more than 100 levels");
  CHECK(error_of(std::string(100, '[') + std::string(100, ']')) == "");
  CHECK_CONTAINS(error_of(std::string("[\0]", 3)), "f.json:1:2");
}
