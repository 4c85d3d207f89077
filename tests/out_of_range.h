// Checks that what takes a struct of options rejects each of its numbers below and above its range.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "checks.h"
#include "core/fields.h"

namespace heed::inline HEED_REAL::testing {

// Sets one number of a struct to a value that its range excludes. Such values are counted from 0,
// over all fields: just below, just above and, of numbers that are not integers, NaN and infinity.
class OutOfRange final : public Fields {
 public:
  explicit OutOfRange(int which) : which_(which) {}
  std::string name;   // of the field that has changed; "": there are no more values
  std::string value;  // that it has now

 private:
  void visit(const Field& field) override {
    if (const auto* number = std::get_if<double*>(&field.value)) {
      const double infinity = std::numeric_limits<double>::infinity();
      if (std::isfinite(field.range.least))
        set(field, **number, std::nextafter(field.range.least, -infinity));
      if (std::isfinite(field.range.most))
        set(field, **number, std::nextafter(field.range.most, infinity));
      for (const double excluded : {std::nan(""), infinity, -infinity})
        set(field, **number, excluded);
    } else if (const auto* integer = std::get_if<int64_t*>(&field.value)) {
      for_integers(field, [&](int64_t excluded) { set(field, **integer, excluded); });
    } else if (const auto* list = std::get_if<std::vector<int64_t>*>(&field.value)) {
      for_integers(field, [&](int64_t excluded) { set(field, **list, {excluded}); });
    }
  }
  void enter(const char*, const char*) override {}
  void leave() override {}

  template <class Set>
  void for_integers(const Field& field, const Set& set_to) {
    if (std::isfinite(field.range.least)) set_to(static_cast<int64_t>(field.range.least) - 1);
    if (std::isfinite(field.range.most)) set_to(static_cast<int64_t>(field.range.most) + 1);
  }
  static std::string text(double number) { return fmt::format("{}", number); }
  static std::string text(const std::vector<int64_t>& list) { return fmt::format("{}", list[0]); }
  template <class Value>
  void set(const Field& field, Value& to, const Value& excluded) {
    if (which_-- != 0) return;
    to = excluded;
    name = field.name;
    value = text(excluded);
  }

  int which_;  // values still to skip
};

// `use` hands the options to the library.
template <class Options, class Use>
void check_ranges(const Options& valid, const Use& use) {
  CHECK_NOTHROW(use(valid));
  for (int i = 0;; ++i) {
    Options options = valid;
    OutOfRange change(i);
    options.fields(change);
    if (change.name.empty()) {
      CHECK(i > 0);
      return;
    }
    std::string error = fmt::format("no error for {} = {}", change.name, change.value);
    try {
      use(options);
    } catch (const InputError& thrown) {
      error = thrown.what();
    }
    CHECK_CONTAINS(error, change.name + ": expected a");
    CHECK_CONTAINS(error, ", found " + change.value);
  }
}

}  // namespace heed::inline HEED_REAL::testing
