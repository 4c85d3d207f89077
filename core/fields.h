// Structs of options that describe themselves: name, value, range and one line of help per field.
//
//   struct AdamOptions {
//     double beta1 = 0.9;
//     bool amsgrad = false;
//     void fields(Fields& f) {
//       f.number("beta1", beta1, {0, 1}, "decay of the mean of gradients");
//       f.flag("amsgrad", amsgrad, "divide by the largest second moment seen so far");
//     }
//   };
//
// Each user of the list (the config parser, the resolved copy of a config, the reference page,
// `heed compare`) is a Fields, which the struct visits. There is no second list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/check.h"
#include "core/named.h"

namespace heed::inline HEED_REAL {

// A closed interval.
struct Range {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
};
inline constexpr Range at_least(double least) { return {least}; }

// A field, as a visitor sees it.
struct Field {
  // One of some words, by its index.
  struct Choice {
    int* index;
    std::span<const char* const> words;
  };

  const char *name, *help;
  std::variant<bool*, int64_t*, double*, std::string*, std::vector<std::string>*,
               std::vector<int64_t>*, Choice>
      value;
  Range range = {};
  bool is_path = false;  // texts: files or folders
};

class Fields {
 public:
  virtual ~Fields() = default;

  void flag(const char* name, bool& value, const char* help) { visit({name, help, &value}); }
  void integer(const char* name, int64_t& value, Range range, const char* help) {
    visit({name, help, &value, range});
  }
  void number(const char* name, double& value, Range range, const char* help) {
    visit({name, help, &value, range});
  }
  void text(const char* name, std::string& value, const char* help) { visit({name, help, &value}); }
  // A file or folder. A relative path starts at the folder of the config that sets it.
  void path(const char* name, std::string& value, const char* help) {
    visit({name, help, &value, {}, true});
  }
  void texts(const char* name, std::vector<std::string>& values, const char* help) {
    visit({name, help, &values});
  }
  void paths(const char* name, std::vector<std::string>& values, const char* help) {
    visit({name, help, &values, {}, true});
  }
  void integers(const char* name, std::vector<int64_t>& values, Range range, const char* help) {
    visit({name, help, &values, range});
  }

  // One of the values of a table, by its name.
  template <class Value, size_t n>
  void choice(const char* name, Value& value, const Named<Value> (&table)[n], const char* help) {
    const char* words[n];
    int index = 0;
    for (size_t i = 0; i < n; ++i) {
      words[i] = table[i].name;
      if (table[i].value == value) index = static_cast<int>(i);
    }
    visit({name, help, Field::Choice{&index, words}});
    value = table[index].value;
  }

  // One of the entries of a registry (core/registry.h), by its name.
  template <class Entry, size_t n>
  void choice(const char* name, const Entry*& value, const Entry* const (&entries)[n],
              const char* help) {
    const char* words[n];
    int index = 0;
    for (size_t i = 0; i < n; ++i) {
      words[i] = entries[i]->name;
      if (entries[i] == value) index = static_cast<int>(i);
    }
    visit({name, help, Field::Choice{&index, words}});
    value = entries[index];
  }

  // A nested struct: [name] in TOML.
  template <class Struct>
  void section(const char* name, Struct& value, const char* help) {
    enter(name, help);
    value.fields(*this);
    leave();
  }

 protected:
  virtual void visit(const Field& field) = 0;
  virtual void enter(const char* name, const char* help) = 0;
  virtual void leave() = 0;
};

}  // namespace heed::inline HEED_REAL
