#include "lab/experiments/cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/joined.h"
#include "lab/experiments/score_kinds.h"

namespace heed {

std::string number_text(double number) { return fmt::format("{:.5g}", number); }

std::string mean_text(const MeanInterval& mean) {
  const double half = mean.half_width;
  if (!(half > 0) || std::isinf(half)) return number_text(mean.mean);
  const auto decimals_for = [](double width) {
    return std::clamp(1 - static_cast<int>(std::floor(std::log10(width))), 0, 12);
  };
  int decimals = decimals_for(half);
  if (mean.kind == IntervalKind::student)
    return fmt::format("{:.{}f} ± {:.{}f}", mean.mean, decimals, half, decimals);
  // Enough for the nearer limit, such as that of 0.0003, but few.
  const double nearer = std::min(mean.mean - mean.interval.low, mean.interval.high - mean.mean);
  if (nearer > 0) decimals = std::min(decimals + 2, decimals_for(nearer));
  return fmt::format("{:.{}f} [{:.{}f}, {:.{}f}]", mean.mean, decimals, mean.interval.low, decimals,
                     mean.interval.high, decimals);
}

namespace {

struct KindText {
  IntervalKind kind;
  const char *name, *note;
};
constexpr KindText kind_texts[] = {
    {IntervalKind::student, "Student", "mean ± half of its 95 % interval over the seeds"},
    {IntervalKind::logit, "logit",
     "mean [95 % interval] over the seeds, by Student on the logit of the mean; none where the "
     "seeds do not differ"},
    {IntervalKind::wilson, "Wilson",
     "mean [95 % interval] over the examples of one run, where no group has seeds that differ"}};

}  // namespace

std::string title_of(const std::string& score, IntervalKind kind) {
  const auto* const text = std::ranges::find(kind_texts, kind, &KindText::kind);
  return text == std::end(kind_texts) ? score : fmt::format("{} ({})", score, text->name);
}

std::vector<std::string> interval_notes(const std::vector<IntervalKind>& kinds) {
  std::vector<std::string> notes;
  for (const KindText& each : kind_texts)
    if (std::ranges::find(kinds, each.kind) != kinds.end())
      notes.push_back(fmt::format("{}: {}", each.name, each.note));
  return notes;
}

std::string count_text(const SeedGroup& group, const std::string& score) {
  const size_t done = group.numbers(score).size();
  if (done == group.runs.size()) return std::to_string(done);
  const int64_t failed = group.failed();
  return fmt::format("{} of {}{}", done, group.runs.size(),
                     failed > 0 ? fmt::format(" ({} failed)", failed) : "");
}

Json scored_run_json(const ScoredRun& run) {
  Json json = Json::object()
                  .set("run", run.folder.path())
                  .set("seed", run.seed)
                  .set("state", name_of(run_state_names, run.state));
  return run.error.empty() ? json : json.set("error", run.error);
}

std::vector<std::string> target_headings(const ScoreTarget& target) {
  const std::string reached = fmt::format("{} {} {}", target.score,
                                          lower_is_better(target.score) ? "≤" : "≥", target.value);
  return {"steps to " + reached, "seconds to " + reached};
}

std::vector<std::string> target_cells(const std::optional<Reached>& reached) {
  if (!reached) return {"-", "-"};
  const auto cell = [&](const std::optional<double>& number, double last) {
    if (!number) return std::string("-");
    if (std::isfinite(*number)) return number_text(*number);
    return reached->reached == 0 ? "never" : "more than " + number_text(last);
  };
  return {cell(reached->steps, reached->last_step), cell(reached->seconds, reached->last_seconds)};
}

Json target_json(const ScoreTarget& target, const std::optional<Reached>& reached) {
  Json json = Json::object().set("score", target.score).set("value", target.value);
  if (reached)
    json.set("steps", reached->steps)
        .set("seconds", reached->seconds.value_or(NAN))
        .set("runs", reached->runs)
        .set("reached", reached->reached)
        .set("last_step", reached->last_step);
  return json;
}

}  // namespace heed
