#include "apps/training/result.h"

#include <cmath>
#include <string>

#include "core/check.h"

namespace heed {
namespace {

constexpr int64_t max_result_bytes = 1 << 20;

// Returns a member of the file in the type that use() reads; none if there is no such member.
template <class Use>
auto member(const Json& json, const char* name, const Use& use) {
  using Value = decltype(use(json));
  const Json* const value = json.find(name);
  return value ? std::optional<Value>(in_context(name, [&] { return use(*value); })) : std::nullopt;
}

TrainingResult result_of(const Json& json) {
  check_input(json.is_object(), "expected an object of scores");
  const auto integer = [](const Json& value) { return value.integer(); };
  const auto number = [](const Json& value) { return value.number(); };
  TrainingResult result{member(json, "steps", integer), member(json, "seconds", number),
                        member(json, "tokens_per_s", number), member(json, "best_step", integer),
                        member(json, "parameters", integer)};
  for (const auto& [name, value] : json.members())
    if (value.is_object())
      result.splits.emplace_back(
          name, in_context(name, [&, &scores = value] { return Scores::from(scores); }));
  return result;
}

}  // namespace

std::optional<double> TrainingResult::number(std::string_view name) const {
  std::optional<double> found;
  visit([&](const std::string& each, auto value) {
    if (each == name && std::isfinite(static_cast<double>(value)))
      found = static_cast<double>(value);
  });
  return found;
}

Json TrainingResult::json() const {
  Json json = Json::object();
  visit_run([&](const char* name, auto value) { json.set(name, value); });
  for (const auto& [split, scores] : splits) json.set(split, scores.json());
  return json;
}

std::optional<TrainingResult> read_result(const RunFolder& run) {
  if (!exists(run.result())) return std::nullopt;
  return read_json(run.result(), "result", max_result_bytes, result_of);
}

}  // namespace heed
