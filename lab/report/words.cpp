#include "lab/report/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/support/log.h"
#include "apps/support/names.h"
#include "apps/support/numbers.h"
#include "core/joined.h"
#include "lab/experiments/score_kinds.h"

namespace heed {
namespace {

constexpr double small_effect = 0.05;  // a ratio or a difference of fractions below it is none

std::string percent_text(double fraction) { return fmt::format("{:.1f} %", 100 * fraction); }

std::string after_training(const Json& result) {
  std::string text;
  if (const auto steps = result.find_number("steps"))
    text += fmt::format(" after {} steps", thin_grouped(*steps));
  if (const auto seconds = result.find_number("seconds")) text += ", " + duration_text(*seconds);
  return text;
}

// How the seeds agree: "lower in all 6 seeds".
std::string agreement(const Comparison& each) {
  const int64_t n = std::ssize(each.seeds);
  const bool lower = 2 * each.lower >= n;
  const int64_t count = lower ? each.lower : n - each.lower;
  return count == n ? fmt::format("{} in {}{}", lower ? "lower" : "higher",
                                  n > 1 ? "all " : "the only ", n > 1 ? counted(n, "seed") : "seed")
                    : fmt::format("{} in {} of {} seeds", lower ? "lower" : "higher", count, n);
}

}  // namespace

std::string thin_grouped(double number) {
  std::string text;
  for (const char c : grouped(number)) c == ',' ? text += "\u202f" : text += c;
  return text;
}

std::string score_text(const std::string& name, double value) {
  if (maximum_of(name) == 1) return percent_text(value);
  return value == static_cast<double>(static_cast<int64_t>(value)) && value < 1e15
             ? thin_grouped(value)
             : four_digits(value);
}

std::string three_digits(double number) {
  return std::abs(number) >= 100 && std::abs(number) < 1e6 ? fmt::format("{:.0f}", number)
                                                           : fmt::format("{:#.3g}", number);
}

std::string size_text(double size, const Effects& effects) {
  if (!std::isfinite(size)) return "–";
  if (effects.by_ratio) return three_digits(size);
  return effects.largest == 1 ? fmt::format("{:+.1f} points", 100 * size)
                              : (size < 0 ? "" : "+") + three_digits(size);
}

std::string duration_text(double seconds) {
  return seconds < 100 ? fmt::format("{:.0f} s", seconds) : logging::clock_text(seconds);
}

std::string split_words(const std::string& split) {
  if (split == "val") return "validation";
  const size_t end = split.find('_');
  return end == split.npos ? split : split.substr(0, end) + ", " + split.substr(end + 1);
}

MainScore main_score_of(const Json& result) {
  MainScore main;
  const Json* scores = nullptr;
  if (!result.is_object()) return main;  // not yet
  for (const auto& [split, each] : result.members())
    if (each.is_object() && (!scores || split == "test")) {
      main.split = split;
      scores = &each;
    }
  if (!scores) return main;
  for (const char* name : {"exact_match", "token_accuracy", "loss"}) {
    const std::optional<double> value = scores->find_number(name);
    if (!value) continue;
    main.value = *value;
    main.name = name;
    const double examples = scores->find_number("examples").value_or(0);
    if (main.name == "exact_match" && examples >= 1) main.examples = static_cast<int64_t>(examples);
    main.interval = exact_match_interval(*scores);
    return main;
  }
  return {};
}

Interval exact_match_interval(const Json& scores) {
  const double value = scores.find_number("exact_match").value_or(NAN),
               n = scores.find_number("examples").value_or(0);
  if (!(value >= 0 && value <= 1 && n >= 1)) return {NAN, NAN};
  return wilson_interval(value, static_cast<int64_t>(n));
}

std::string headline_of(const ReportedRun& run) {
  const std::string task = run.saved.config.experiment.data.kind->name;
  if (run.state == RunState::failed)
    return fmt::format("{}: the run failed after {} steps", task,
                       thin_grouped(run.curves.last_step()));
  const MainScore main = main_score_of(run.result);
  if (main.name.empty()) {
    const Curve* const loss = run.curves.find("loss");
    return fmt::format("{}: step {} of {}{}", task, thin_grouped(run.curves.last_step()),
                       thin_grouped(static_cast<double>(run.saved.config.experiment.train.steps)),
                       loss ? ", training loss " + four_digits(loss->values.back()) : "");
  }
  const std::string split = split_words(main.split), after = after_training(run.result);
  if (main.name == "exact_match")
    return fmt::format(
        "{}: {} of {}{} outputs are exactly right{}", task, percent_text(main.value),
        main.examples > 0 ? thin_grouped(static_cast<double>(main.examples)) + " " : "", split,
        after);
  if (main.name == "token_accuracy")
    return fmt::format("{}: {} of the {} tokens are predicted right{}", task,
                       percent_text(main.value), split, after);
  return fmt::format("{}: {} loss {}{}", task, split, four_digits(main.value), after);
}

std::string lead_of(const ReportedRun& run) {
  if (run.state == RunState::failed) return "";  // the note below says why
  std::string text;
  const MainScore main = main_score_of(run.result);
  if (main.examples > 0)
    for (const auto& [split, scores] : run.result.members())
      if (scores.is_object() && exact_match_interval(scores).high < main.interval.low)
        text += fmt::format("Of the split {} only {} are. ", split,
                            percent_text(scores.at("exact_match").number()));
  const double best = run.result.find_number("best_step").value_or(0),
               steps = run.result.find_number("steps").value_or(NAN);
  const std::string by = run.saved.config.experiment.train.best_by->title;
  if (best > 0 && best == steps)
    text +=
        fmt::format("The best step by validation {} is the last one: it was still improving.", by);
  else if (best > 0)
    text += fmt::format("The best step by validation {} is {}.", by, thin_grouped(best));
  return text;
}

std::optional<double> seconds_left(const ReportedRun& run) {
  const Curve* const seconds = run.curves.find("seconds");
  if (run.state != RunState::running || !seconds || seconds->steps.back() <= 0) return std::nullopt;
  const double done = seconds->steps.back(),
               all = static_cast<double>(run.saved.config.experiment.train.steps);
  return std::max(0.0, seconds->values.back() / done * (all - done));
}

std::optional<double> seconds_left(const Report& report) {
  if (report.plan && report.plan->options.method == SweepMethod::halving) return std::nullopt;
  double left = 0, longest = 0, ended = 0, trained = 0, running = 0;
  for (const ReportedRun& run : report.runs) {
    const Curve* const seconds = run.curves.find("seconds");
    ended += has_ended(run);
    trained += seconds ? seconds->values.back() : 0;
    if (const std::optional<double> each = seconds_left(run)) {
      ++running;
      left += *each;
      longest = std::max(longest, *each);
    }
  }
  if (running == 0) return std::nullopt;
  // Those that wait take as long as the others on average.
  const double waiting = static_cast<double>(planned_runs(report)) - ended - running;
  left += waiting * (trained + left) / (ended + running);
  return std::max(longest, left / running);
}

Answer answer_of(const Comparison& each, const Effects& effects) {
  using enum Answer::Verdict;
  if (each.seeds.empty())
    return {unknown, "too few seeds to tell.", "No seed has a score on both sides"};
  const auto& [low, high] = each.effect.interval;
  const double no_effect = effects.no_effect();
  const std::string times = effects.by_ratio ? " times" : "";
  Answer answer;
  if (each.adjusted_p <= significance_level && (high < no_effect || low > no_effect)) {
    answer.verdict = yes;
    const bool lower = high < no_effect;
    answer.words = fmt::format("{}, which is {}.", lower ? "lower" : "higher",
                               lower == lower_is_better(effects.score) ? "better" : "worse");
  } else if (std::isfinite(low) && std::isfinite(high) && low > no_effect - small_effect &&
             high < no_effect + small_effect && (effects.by_ratio || effects.largest == 1)) {
    answer.verdict = none;
    const double most = std::max(std::abs(low - no_effect), std::abs(high - no_effect));
    answer.words = fmt::format("no difference above {:.1f} {}.", 100 * most,
                               effects.by_ratio ? "%" : "points");
  } else {
    answer.words = "too few seeds to tell.";
  }
  answer.details = size_text(each.effect.size, effects) + times;
  if (std::isfinite(low) && std::isfinite(high))
    answer.details +=
        fmt::format(", 95 % interval {} to {}", size_text(low, effects), size_text(high, effects));
  answer.details += fmt::format("; {}, p = {:.2g}", agreement(each), each.adjusted_p);
  return answer;
}

std::string question_of(const RunGroups& groups, const std::string& score) {
  const std::vector<std::string>& keys = groups.varying;
  if (keys.empty()) return fmt::format("How far does {} vary from seed to seed?", score);
  if (keys.size() == 1) return fmt::format("Does {} change {}?", keys[0], score);
  const std::vector<std::string> most(keys.begin(), keys.end() - 1);
  return fmt::format("Do {} and {} change {}?", joined(most), keys.back(), score);
}

}  // namespace heed
