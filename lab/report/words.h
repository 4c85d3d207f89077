// What a page says in sentences: a result in words, and what is not known.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "apps/support/json.h"
#include "lab/experiments/effects.h"
#include "lab/report/report_data.h"

namespace heed {

// Returns "1 000", with thin spaces.
std::string thin_grouped(double number);
// Returns a score as people read it, a fraction in percent.
std::string score_text(const std::string& name, double value);
// Returns three significant digits, zeros among them: "1.20".
std::string three_digits(double number);
// Returns the size of an effect: a ratio, or a difference with its sign; "–" if it is not finite.
std::string size_text(double size, const Effects& effects);
// Returns "22 s", or "3:05" from 100 s on.
std::string duration_text(double seconds);
// Returns what people call a split: "val" → "validation", "test_longer" → "test, longer".
std::string split_words(const std::string& split);

// The score that a headline is about: exact match, else token accuracy, else the loss; of the test
// split if there is one, else of the first.
struct MainScore {
  std::string split = {}, name = {};  // "" without scores
  double value = 0;
  int64_t examples = 0;            // that a fraction counts; 0: it counts none
  Interval interval = {NAN, NAN};  // of an exact match
};
MainScore main_score_of(const Json& result);
// Returns Wilson's interval of the exact match among the scores of a split; NaN if they have none,
// or not what it counts.
Interval exact_match_interval(const Json& scores);

// Returns the result of a run in words, "reverse: 99.8 % of 500 test outputs are exactly right
// after 5 000 steps, 0:22", and what does not work, or is not known yet.
std::string headline_of(const ReportedRun& run);
std::string lead_of(const ReportedRun& run);

// Returns how many more seconds a run trains, by its metrics; none unless it is running.
std::optional<double> seconds_left(const ReportedRun& run);
// Returns how many more seconds all runs train, if as many train at a time as now. Returns none if
// no run trains, or if the sweep stops runs early.
std::optional<double> seconds_left(const Report& report);

// What the pairs of seeds say about a value of a key, or about a group.
struct Answer {
  enum class Verdict { yes, none, unknown };  // a difference; none that matters; too few seeds
  Verdict verdict = Verdict::unknown;
  std::string words = {};    // "lower, which is better."
  std::string details = {};  // "0.34 times, 95 % interval 0.25 to 0.44; lower in all 6 seeds, …"
};
Answer answer_of(const Comparison& each, const Effects& effects);
// Returns "Do model.heads and optim.lr change val.loss?".
std::string question_of(const RunGroups& groups, const std::string& score);

}  // namespace heed
