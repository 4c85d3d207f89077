// JSON values: what metrics.jsonl, state.json, result.json and --json hold.
//
// Objects keep the order in which members were set. Numbers come back as they were: whole ones as
// int64, others as the shortest text that gives the same double. A double that JSON cannot say
// (infinite, not a number) is written as null.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

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
  Json(const std::vector<std::string>& texts);
  static Json array() { return Json(std::vector<Json>()); }
  static Json object() { return Json(std::vector<Member>()); }

  // Exactly one value and white space, at most 100 deep, no member twice. Throws InputError that
  // starts with `file` and has the line and column.
  static Json parse(std::string_view text, const std::string& file);
  // On one line, or with lines indented by so many spaces.
  std::string text(int indent = -1) const;

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_object() const { return std::holds_alternative<std::vector<Member>>(value_); }
  bool is_number() const;

  // Of an object: sets or replaces a member, and returns the object.
  Json& set(std::string_view name, Json value);
  void remove(std::string_view name);
  const Json* find(std::string_view name) const;  // nullptr: no such member, or no object
  // Throws InputError naming the member if there is none.
  const Json& at(std::string_view name) const;
  const std::vector<Member>& members() const;

  // Of an array.
  void push(Json value);
  const std::vector<Json>& elements() const;

  // These throw InputError where the value is of another kind. number() takes both kinds.
  bool flag() const;
  int64_t integer() const;
  double number() const;
  const std::string& string() const;
  std::vector<std::string> strings() const;

 private:
  explicit Json(std::vector<Json> elements) : value_(std::move(elements)) {}
  explicit Json(std::vector<Member> members) : value_(std::move(members)) {}
  template <class T>
  const T& get(const char* kind) const;
  template <class Target>
  Target to() const;

  std::variant<std::monostate, bool, int64_t, double, std::string, std::vector<Json>,
               std::vector<Member>>
      value_;
};

}  // namespace heed
