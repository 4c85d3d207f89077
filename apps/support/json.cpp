#include "apps/support/json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>

#include "core/check.h"

namespace heed {
namespace {

using Library = nlohmann::ordered_json;

// Builds a Json from what the library's parser finds, which does not recurse.
class Builder : public nlohmann::json_sax<Library> {
 public:
  std::string problem;
  size_t position = 0;  // of the problem, counted from 1
  Json result;

  bool null() override { return add(Json()); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(int64_t value) override { return add(value); }
  bool number_unsigned(uint64_t value) override {
    if (value > uint64_t{std::numeric_limits<int64_t>::max()})
      return add(static_cast<double>(value));
    return add(static_cast<int64_t>(value));
  }
  bool number_float(double value, const std::string&) override { return add(value); }
  bool string(std::string& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(size_t) override { return open(Json::object()); }
  bool start_array(size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(std::string& name) override {
    if (open_.back().first.find(name)) return fail(fmt::format("'{}' twice", name));
    name_ = std::move(name);
    return true;
  }
  bool parse_error(size_t at, const std::string&, const nlohmann::json::exception& error) override {
    position = at;
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error …"
    const std::string_view text = error.what();
    const size_t start = text.find(": ");
    return fail(std::string(start == text.npos ? text : text.substr(start + 2)));
  }

 private:
  static constexpr size_t deepest = 100;

  bool fail(std::string what) {
    problem = std::move(what);
    return false;
  }
  bool open(Json container) {
    if (open_.size() == deepest) return fail("nested too deeply");
    open_.emplace_back(std::move(container), std::move(name_));
    return true;
  }
  bool close() {
    auto [container, name] = std::move(open_.back());
    open_.pop_back();
    name_ = std::move(name);
    return add(std::move(container));
  }
  bool add(Json value) {
    if (open_.empty())
      result = std::move(value);
    else if (open_.back().first.is_object())
      open_.back().first.set(name_, std::move(value));
    else
      open_.back().first.push(std::move(value));
    return true;
  }

  std::vector<std::pair<Json, std::string>> open_;  // and the name each has where it belongs
  std::string name_;                                // of the member to come
};

}  // namespace

Json Json::parse(std::string_view text, const std::string& file) {
  Builder builder;
  if (Library::sax_parse(text, &builder)) return std::move(builder.result);
  const std::string_view before = text.substr(0, std::max<size_t>(builder.position, 1) - 1);
  const size_t line_start = before.rfind('\n') + 1;  // 0 where there is none
  std::replace(builder.problem.begin(), builder.problem.end(), '\n', ' ');
  const std::string place =
      builder.position == 0
          ? ""
          : fmt::format(":{}:{}", 1 + std::count(before.begin(), before.end(), '\n'),
                        before.size() - line_start + 1);
  throw InputError(fmt::format("{}{}: not JSON as it should be: {}", file, place, builder.problem));
}

// The same value as the library has it, for the library to write.
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
      Target object = Target::object();
      for (const auto& [name, member] : value) object[name] = member.template to<Target>();
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

Json::Json(const std::vector<std::string>& texts) : value_(std::vector<Json>()) {
  for (const std::string& each : texts) push(each);
}

bool Json::is_number() const {
  return std::holds_alternative<int64_t>(value_) || std::holds_alternative<double>(value_);
}

Json& Json::set(std::string_view name, Json value) {
  auto& all = std::get<std::vector<Member>>(value_);
  const auto place = std::find_if(all.begin(), all.end(),
                                  [&](const Member& member) { return member.first == name; });
  if (place == all.end())
    all.emplace_back(name, std::move(value));
  else
    place->second = std::move(value);
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

const Json& Json::at(std::string_view name) const {
  const Json* value = find(name);
  check_input(value != nullptr, "'{}' is missing", name);
  return *value;
}

void Json::push(Json value) { std::get<std::vector<Json>>(value_).push_back(std::move(value)); }

template <class T>
const T& Json::get(const char* kind) const {
  const T* value = std::get_if<T>(&value_);
  check_input(value != nullptr, "{} is wanted, not {}", kind, text().substr(0, 40));
  return *value;
}

const std::vector<Json::Member>& Json::members() const {
  return get<std::vector<Member>>("an object");
}
const std::vector<Json>& Json::elements() const { return get<std::vector<Json>>("an array"); }
bool Json::flag() const { return get<bool>("true or false"); }
int64_t Json::integer() const { return get<int64_t>("a whole number"); }
const std::string& Json::string() const { return get<std::string>("a text"); }

double Json::number() const {
  if (const int64_t* whole = std::get_if<int64_t>(&value_)) return static_cast<double>(*whole);
  return get<double>("a number");
}

std::vector<std::string> Json::strings() const {
  std::vector<std::string> texts;
  for (const Json& element : elements()) texts.push_back(element.string());
  return texts;
}

}  // namespace heed
