// Structs of options that describe themselves: name, value, range and one line of help per field.
//
//   struct AdamOptions {
//     double beta1 = 0.9;
//     double momentum = 0;
//     void fields(Fields& f) {
//       f.number("beta1", beta1, {0, 1}, "decay of the mean of gradients");
//       f.number("momentum", momentum, {0, 1}, "fraction of the last update").when(kind == sgd);
//     }
//   };
//
// Each user of the list (the config parser, the resolved copy of a config, the reference page,
// `heed compare`, check_fields() below) is a Fields, which the struct visits. There is no second
// list.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/check.h"
#include "core/named.h"

namespace heed::inline HEED_REAL {

// A closed interval.
struct Range {
  double least = -std::numeric_limits<double>::infinity();  // included
  double most = std::numeric_limits<double>::infinity();    // included

  // Returns whether a number is in the interval, and finite.
  bool contains(double number) const {
    return std::isfinite(number) && number >= least && number <= most;
  }
};
inline constexpr Range at_least(double least) { return {least}; }  // [least, ∞)
// Returns "0 … 1", "≥ 0", or "" for any number.
std::string range_text(Range range);
// Returns what an error expects: "a number, 0 … 1", or "a number" for any.
std::string expected_number(const char* kind, Range range);

// A field, as a visitor sees it.
struct Field {
  // One of some words, by its index.
  struct Choice {
    int* index;                          // into words
    std::span<const char* const> words;  // all that a config may say
  };

  // What another value does to weights that were trained with this one.
  enum class Effect {
    weights,  // they are those of another training
    result,   // they can be trained on, to another result: steps, evaluations
    data,     // where a data file is: nothing, if it has the same content
    none,     // nothing: threads, logs, checkpoints
  };

  const char* name;  // the key in a config
  const char* help;  // one line of the reference page
  // Points to the member, by its type.
  std::variant<bool*, int64_t*, double*, std::string*, std::vector<std::string>*,
               std::vector<int64_t>*, Choice>
      value;
  Effect effect = Effect::weights;  // of another value
  Range range = {};                 // of numbers, and of each of several
  bool is_path = false;             // texts: files or folders
  std::string* folder = nullptr;    // receives the folder of the config that sets the field
};

// Visits the fields of a struct of options, one call for each.
class Fields {
 public:
  using Effect = Field::Effect;  // the default is `weights`
  virtual ~Fields() = default;

  // Each has a name, the member, the range of a number and a line of help.
  Fields& flag(const char* name, bool& value, const char* help, Effect effect = {}) {
    return visit({name, help, &value, effect}), *this;
  }
  // An integer in the range.
  Fields& integer(const char* name, int64_t& value, Range range, const char* help,
                  Effect effect = {}) {
    return visit({name, help, &value, effect, range}), *this;
  }
  // A finite number in the range.
  Fields& number(const char* name, double& value, Range range, const char* help,
                 Effect effect = {}) {
    return visit({name, help, &value, effect, range}), *this;
  }
  // Any text.
  Fields& text(const char* name, std::string& value, const char* help, Effect effect = {}) {
    return visit({name, help, &value, effect}), *this;
  }
  // A file or folder. A relative path starts at the folder of the config that sets it.
  Fields& path(const char* name, std::string& value, const char* help, Effect effect = {}) {
    return visit({name, help, &value, effect, {}, true}), *this;
  }
  // A list of texts. `folder`, if any, receives the folder of the config that sets it.
  Fields& texts(const char* name, std::vector<std::string>& values, const char* help,
                Effect effect = {}, std::string* folder = nullptr) {
    return visit({name, help, &values, effect, {}, false, folder}), *this;
  }
  // A list of files or folders.
  Fields& paths(const char* name, std::vector<std::string>& values, const char* help,
                Effect effect = {}) {
    return visit({name, help, &values, effect, {}, true}), *this;
  }
  // A list of whole numbers, each in the range.
  Fields& integers(const char* name, std::vector<int64_t>& values, Range range, const char* help,
                   Effect effect = {}) {
    return visit({name, help, &values, effect, range}), *this;
  }

  // One of the values of a table of Named, or of the entries of a registry (core/registry.h), by
  // its name.
  template <class Value, class Entry, size_t n>
  Fields& choice(const char* name, Value& value, const Entry (&table)[n], const char* help,
                 Effect effect = {}) {
    const char* words[n];
    int index = 0;
    for (size_t i = 0; i < n; ++i) {
      words[i] = named(table[i]).name;
      if (named(table[i]).value == value) index = static_cast<int>(i);
    }
    visit({name, help, Field::Choice{&index, words}, effect});
    value = named(table[index]).value;
    return *this;
  }

  // Says when the last field has an effect, by the values of others: f.number(…).when(kind == sgd).
  // Without it: always. A field that has none is not used.
  virtual void when(bool /*applies*/) {}

  // Returns whether the field of this name has an effect.
  using Applies = std::function<bool(std::string_view name)>;
  // A nested struct: [name] in TOML. `applies` says when its fields have an effect, where that
  // depends on values outside of the struct.
  template <class Struct>
  void section(const char* name, Struct& value, const char* help, const Applies& applies = {}) {
    enter(name, help);
    value.fields(*this);
    if (applies) each_when(applies);
    leave();
  }

 protected:
  virtual void each_when(const Applies& /*applies*/) {}  // of all fields of the innermost section
  virtual void visit(const Field& field) = 0;
  virtual void enter(const char* name, const char* help) = 0;
  virtual void leave() = 0;
};

// Throws InputError unless the number is finite and in the range. `owner` is what takes the number:
// "optimizer: lr: expected a number, ≥ 0, found -0.1".
void check_range(const char* owner, const char* name, double number, Range range);
void check_range(const char* owner, const char* name, int64_t integer, Range range);

// Applies check_range() to every field that it visits.
class RangeChecker final : public Fields {
 public:
  explicit RangeChecker(const char* owner) : owner_(owner) {}

 private:
  void visit(const Field& field) override;
  void enter(const char* name, const char* help) override;
  void leave() override;

  const char* owner_;
  std::vector<size_t> outer_;  // lengths of `section_` outside the current sections
  std::string section_;        // "", "attention.", …
};

// Throws InputError, which names the field, if a number of a struct of options is not in its range.
// Constructors that take such a struct call it; a config is checked as it is read.
template <class Options>
void check_fields(Options options, const char* owner) {
  RangeChecker checker(owner);
  options.fields(checker);
}

}  // namespace heed::inline HEED_REAL
