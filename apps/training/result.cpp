#include "apps/training/result.h"

#include "core/check.h"
#include "core/text.h"

namespace heed {

static void read(const Json& json, std::optional<int64_t>& count) { count = json.integer(); }
static void read(const Json& json, std::optional<double>& number) { number = json.number(); }

static TrainingResult result_of(const Json& json) {
  check_input(json.is_object(), "expected an object of scores");
  TrainingResult result;
  TrainingResult::visit_run(result, [&](const char* name, auto& value) {
    if (const Json* const member = json.find(name)) in_context(name, [&] { read(*member, value); });
  });
  for (const auto& [name, value] : json.members())
    if (value.is_object())
      result.splits.emplace_back(
          name, in_context(name, [&, &scores = value] { return Scores::from(scores); }));
  return result;
}

Json TrainingResult::json() const {
  Json json = Json::object();
  visit_run(*this, [&](const char* name, const auto& value) {
    if (value) json.set(name, *value);
  });
  for (const auto& [split, scores] : splits) json.set(split, scores.json());
  return json;
}

std::optional<TrainingResult> read_result(const RunFolder& run) {
  constexpr int64_t max_bytes = 1 << 20;
  if (!exists(run.result())) return std::nullopt;
  return read_json(run.result(), "result", max_bytes, result_of);
}

}  // namespace heed
