// JSON values: the contents of metrics.jsonl, state.json, result.json and the output of --json.
//
// Objects keep the order in which members were set. Numbers survive a round trip: integers as
// int64, others as the shortest text that gives the same double. Infinities and NaN, which JSON
// does not have, are written as null.
//
// nlohmann/json.hpp, which reads and writes the text, takes seconds to compile. Only json.cpp
// includes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/check.h"
#include "core/text.h"

namespace heed {

class Json {
 public:
  using Member = std::pair<std::string, Json>;

  Json() = default;  // null
  Json(bool value) : value_(value) {}
  Json(int value) : value_(int64_t{value}) {}
  Json(int64_t value) : value_(value) {}
  Json(double value) : value_(value) {}
  Json(const char* text) : value_(std::string(text)) {}
  Json(std::string text) : value_(std::move(text)) {}
  template <class T>
  Json(const std::optional<T>& value) : Json(value ? Json(*value) : Json()) {}  // null: none
  template <class T>
  Json(const std::vector<T>& values) : value_(std::vector<Json>(values.begin(), values.end())) {}
  // Returns the array of f(each).
  template <class Range, class F>
  static Json list(const Range& range, F&& f) {
    std::vector<Json> elements;
    for (const auto& each : range) elements.emplace_back(f(each));
    return Json(std::move(elements));
  }
  static Json array(std::vector<Json> elements = {}) { return Json(std::move(elements)); }
  static Json object() { return Json(std::vector<Member>()); }

  // Parses a text that holds one value, with at most 100 levels and no duplicate members. Throws
  // InputError that starts with `file`, line and column.
  static Json parse(std::string_view text, const std::string& file);
  // Returns the value on one line, or on several with this indentation.
  std::string text(int indent = -1) const;

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_object() const { return std::holds_alternative<std::vector<Member>>(value_); }
  bool is_array() const { return std::holds_alternative<std::vector<Json>>(value_); }
  bool is_number() const {
    return std::holds_alternative<int64_t>(value_) || std::holds_alternative<double>(value_);
  }

  // Objects. set() adds or replaces a member and returns the object.
  Json& set(std::string_view name, Json value);
  void remove(std::string_view name);
  const Json* find(std::string_view name) const;  // nullptr if there is no such member
  const Json& at(std::string_view name) const;    // throws InputError if there is no such member
  // Returns a member of nested objects: "val.loss". nullptr if there is none.
  const Json* find_path(std::string_view path) const;
  // Returns the number at such a path; none if there is no member, or it is not a number.
  std::optional<double> find_number(std::string_view path) const;
  // Returns the members, and those of nested objects in place of the objects, as "val.loss".
  std::vector<Member> flattened() const;
  const std::vector<Member>& members() const { return get<std::vector<Member>>("an object"); }

  // Arrays.
  void push(Json value);
  const std::vector<Json>& elements() const { return get<std::vector<Json>>("an array"); }

  // Values. Throw InputError for a value of another type.
  bool flag() const { return get<bool>("true or false"); }
  int64_t integer() const { return get<int64_t>("an integer"); }
  double number() const;  // an integer, too
  const std::string& string() const { return get<std::string>("a string"); }
  std::vector<std::string> strings() const;

 private:
  class Builder;

  explicit Json(std::vector<Json> elements) : value_(std::move(elements)) {}
  explicit Json(std::vector<Member> members) : value_(std::move(members)) {}
  template <class T>
  const T& get(const char* type) const {
    if (const T* value = std::get_if<T>(&value_)) return *value;
    wrong_type(type);
  }
  [[noreturn]] void wrong_type(const char* expected) const;
  template <class Target>
  Target to() const;

  std::variant<std::monostate, bool, int64_t, double, std::string, std::vector<Json>,
               std::vector<Member>>
      value_;
};

// Reads a file that holds one value. Throws InputError that begins with the path. `what` names the
// expected kind of file, as in read_file().
Json read_json(const std::string& path, const char* what, int64_t max_bytes);
// Returns use(value). Its errors begin with the path too. All errors end with `remedy`, such as
// "; delete the file".
template <class Use>
auto read_json(const std::string& path, const char* what, int64_t max_bytes, Use&& use,
               std::string_view remedy = "") {
  try {
    const Json json = read_json(path, what, max_bytes);
    return in_context(path, [&] { return use(json); });
  } catch (const InputError& error) {
    throw InputError(error.what() + std::string(remedy));
  }
}

}  // namespace heed
