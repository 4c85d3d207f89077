#include "apps/support/json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <set>

#include "apps/support/files.h"
#include "core/check.h"
#include "core/text.h"

namespace heed {

using Library = nlohmann::ordered_json;

// Builds a Json from the events of the library's parser, which does not recurse.
class Json::Builder : public nlohmann::json_sax<Library> {
 public:
  Builder(std::string_view text, const std::string& file) : text_(text), file_(file) {}
  Json result;

  bool null() override { return add(Json()); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(int64_t value) override { return add(value); }
  bool number_unsigned(uint64_t value) override {
    constexpr uint64_t largest = std::numeric_limits<int64_t>::max();
    return value > largest ? add(static_cast<double>(value)) : add(static_cast<int64_t>(value));
  }
  bool number_float(double value, const std::string&) override { return add(value); }
  bool string(std::string& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(size_t) override { return open(Json::object()); }
  bool start_array(size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(std::string& name) override {
    check_input(open_.back().names.insert(name).second, "{}: duplicate member {}", file_,
                in_quotes(name, '\''));
    name_ = std::move(name);
    return true;
  }

  // `position` counts characters from 1; 0 means unknown.
  bool parse_error(size_t position, const std::string&,
                   const nlohmann::json::exception& error) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error …"
    std::string problem = error.what();
    problem.erase(0, problem.find(": ") + 2);
    std::replace(problem.begin(), problem.end(), '\n', ' ');
    problem = shortened(problem, 200);
    if (position == 0) throw InputError(fmt::format("{}: not valid JSON: {}", file_, problem));
    const std::string_view before = text_.substr(0, position - 1);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const size_t column = before.size() - (before.rfind('\n') + 1) + 1;
    throw InputError(fmt::format("{}:{}:{}: not valid JSON: {}", file_, line, column, problem));
  }

 private:
  static constexpr size_t max_depth = 100;

  // An array or object that is not complete. Its address is stable: its parent grows only when it
  // is complete.
  struct Open {
    Json* container;
    std::set<std::string> names;  // of its members
  };

  Json* append(Json value) {
    if (open_.empty()) return &(result = std::move(value));
    auto& container = open_.back().container->value_;
    if (auto* elements = std::get_if<std::vector<Json>>(&container))
      return &elements->emplace_back(std::move(value));
    auto& members = std::get<std::vector<Member>>(container);
    return &members.emplace_back(std::move(name_), std::move(value)).second;
  }
  bool add(Json value) { return append(std::move(value)) != nullptr; }
  bool open(Json container) {
    check_input(open_.size() < max_depth, "{}: JSON of more than {} levels", file_, max_depth);
    open_.push_back({append(std::move(container)), {}});
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  const std::string_view text_;
  const std::string& file_;
  std::vector<Open> open_;
  std::string name_;  // of the next member
};

Json Json::parse(std::string_view text, const std::string& file) {
  Builder builder(text, file);
  Library::sax_parse(text, &builder);
  return std::move(builder.result);
}

// Converts to the library's type, which can be written.
template <class Target>
Target Json::to() const {
  const auto convert = [](const auto& value) -> Target {
    using Value = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<Value, std::monostate>) {
      return nullptr;
    } else if constexpr (std::is_same_v<Value, std::vector<Json>>) {
      Target array = Target::array();
      for (const Json& element : value) array.push_back(element.template to<Target>());
      return array;
    } else if constexpr (std::is_same_v<Value, std::vector<Member>>) {
      typename Target::object_t object;
      object.reserve(value.size());
      for (const auto& [name, member] : value)
        object.emplace_back(name, member.template to<Target>());  // names are unique
      return object;
    } else {
      return value;
    }
  };
  return std::visit(convert, value_);
}

std::string Json::text(int indent) const {
  return to<Library>().dump(indent, ' ', false, Library::error_handler_t::replace);
}

void Json::wrong_type(const char* expected) const {
  throw InputError(fmt::format("expected {}, found {}", expected, shortened(text(), 40)));
}

void Json::push(Json value) { std::get<std::vector<Json>>(value_).push_back(std::move(value)); }

Json& Json::set(std::string_view name, Json value) {
  auto& all = std::get<std::vector<Member>>(value_);
  const auto existing = std::find_if(all.begin(), all.end(),
                                     [&](const Member& member) { return member.first == name; });
  if (existing == all.end())
    all.emplace_back(name, std::move(value));
  else
    existing->second = std::move(value);
  return *this;
}

void Json::remove(std::string_view name) {
  std::erase_if(std::get<std::vector<Member>>(value_),
                [&](const Member& member) { return member.first == name; });
}

const Json* Json::find(std::string_view name) const {
  if (!is_object()) return nullptr;
  for (const auto& [key, value] : members())
    if (key == name) return &value;
  return nullptr;
}

const Json* Json::find_path(std::string_view path) const {
  const size_t dot = path.find('.');
  const Json* const member = find(path.substr(0, dot));
  return member && dot != path.npos ? member->find_path(path.substr(dot + 1)) : member;
}

std::optional<double> Json::find_number(std::string_view path) const {
  const Json* const member = find_path(path);
  return member && member->is_number() ? std::optional(member->number()) : std::nullopt;
}

static void add_flattened(const Json& object, const std::string& prefix,
                          std::vector<Json::Member>& all) {
  for (const auto& [name, value] : object.members())
    if (value.is_object())
      add_flattened(value, prefix + name + ".", all);
    else
      all.emplace_back(prefix + name, value);
}

std::vector<Json::Member> Json::flattened() const {
  std::vector<Member> all;
  add_flattened(*this, "", all);
  return all;
}

const Json& Json::at(std::string_view name) const {
  const Json* value = find(name);
  check_input(value != nullptr, "'{}' is missing", name);
  return *value;
}

double Json::number() const {
  if (const int64_t* integer = std::get_if<int64_t>(&value_)) return static_cast<double>(*integer);
  return get<double>("a number");
}

std::vector<std::string> Json::strings() const {
  std::vector<std::string> texts;
  for (const Json& element : elements()) texts.push_back(element.string());
  return texts;
}

Json read_json(const std::string& path, const char* what, int64_t max_bytes) {
  return Json::parse(read_file(path, what, max_bytes), path);
}

}  // namespace heed
