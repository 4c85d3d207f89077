// result.json: what a training that has ended reached.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "apps/inference/scores.h"
#include "apps/training/run_folder.h"

namespace heed {

// None of a number: the file does not have it.
struct TrainingResult {
  std::optional<int64_t> steps = {};
  std::optional<double> seconds = {}, tokens_per_s = {};
  std::optional<int64_t> best_step = {}, parameters = {};
  ScoresOfSplits splits = {};  // of the best step

  // Calls f(name, value) for each number, in the order of the file: "steps", …, "val.loss", …
  // Counts are int64_t, others double.
  template <class F>
  void visit(F&& f) const {
    visit_run(f);
    for (const auto& [split, scores] : splits)
      scores.visit(
          [&, &name = split](const char* score, auto value) { f(name + "." + score, value); });
  }
  // Returns the number of a name such as "seconds" or "val.loss"; none if there is no such number,
  // or if it is not finite.
  std::optional<double> number(std::string_view name) const;
  Json json() const;

 private:
  template <class F>
  void visit_run(F&& f) const {
    const auto visit_one = [&](const char* name, const auto& value) {
      if (value) f(name, *value);
    };
    visit_one("steps", steps);
    visit_one("seconds", seconds);
    visit_one("tokens_per_s", tokens_per_s);
    visit_one("best_step", best_step);
    visit_one("parameters", parameters);
  }
};

// Returns the result of a run; none while it is training. Leaves out members that it does not know.
// Throws InputError if the file is damaged.
std::optional<TrainingResult> read_result(const RunFolder& run);

}  // namespace heed
