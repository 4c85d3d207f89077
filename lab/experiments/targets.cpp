// When runs reached a score: the targets of groups.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "apps/support/numbers.h"
#include "apps/training/metrics.h"
#include "core/check.h"
#include "core/text.h"
#include "lab/experiments/groups.h"
#include "lab/experiments/score_kinds.h"
#include "lab/measure/median.h"

namespace heed {

static constexpr double not_reached = std::numeric_limits<double>::infinity();

ScoreTarget ScoreTarget::parse(const std::string& text) {
  const size_t equals = text.rfind('=');

  const bool has_both = equals != text.npos && equals > 0;
  const double value = number_of_text(has_both ? text.substr(equals + 1) : "").value_or(NAN);
  check_input(std::isfinite(value),
              "--target {}: expected a score and a value, such as val.loss=1.88", in_quotes(text));
  return {text.substr(0, equals), value};
}

bool ScoreTarget::is_reached_by(double number) const {
  return lower_is_better(score) ? number <= value : number >= value;
}

std::optional<Reached> reached(const RunFolder& run, const ScoreTarget& target) {
  bool has_score = false;
  Reached result{.steps = not_reached, .seconds = not_reached};
  for_each_row(read_metrics(run.metrics()), [&](std::string_view text, int64_t line) {
    const Json row = Json::parse(text, fmt::format("{}:{}", run.metrics(), line));
    const std::optional<double> seconds = row.find_number("seconds"),
                                value = row.find_number(target.score);
    result.last_step = std::max(result.last_step, row.find_number("step").value_or(0));
    result.last_seconds = std::max(result.last_seconds, seconds.value_or(0));
    if (!value) return;
    has_score = true;
    if (result.reached > 0 || !target.is_reached_by(*value)) return;
    result.reached = 1;
    result.steps = row.at("step").number();
    result.seconds = seconds;
  });
  if (!has_score) return std::nullopt;
  return result;
}

std::optional<Reached> median_reached(const SeedGroup& group, const ScoreTarget& target) {
  std::vector<Reached> runs;
  for (const ScoredRun& run : group.runs)
    if (const std::optional<Reached> each = reached(run.folder, target)) runs.push_back(*each);
  return median_reached(runs);
}

std::optional<Reached> median_reached(const std::vector<Reached>& runs) {
  if (runs.empty()) return std::nullopt;
  Reached all{.runs = 0};
  std::vector<double> steps, seconds;
  for (const Reached& each : runs) {
    ++all.runs;
    all.reached += each.reached;
    all.last_step = std::max(all.last_step, each.last_step);
    all.last_seconds = std::max(all.last_seconds, each.last_seconds);
    steps.push_back(each.steps);
    if (each.seconds) seconds.push_back(*each.seconds);
  }
  all.steps = median_of(steps);
  if (seconds.size() == steps.size()) all.seconds = median_of(seconds);
  return all;
}

}  // namespace heed
