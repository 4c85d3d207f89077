// result.json: what a training that has ended reached.
#pragma once

#include <cstdint>
#include <optional>

#include "apps/inference/scores.h"
#include "apps/training/run_folder.h"

namespace heed {

struct TrainingResult {
  std::optional<int64_t> steps = {};
  std::optional<double> seconds = {}, tokens_per_s = {};
  std::optional<int64_t> best_step = {}, parameters = {};
  ScoresOfSplits splits = {};  // of the best step

  // Calls f(name, value) for each number of the whole run. Works for const and other results.
  template <class Result, class F>
  static void visit_run(Result& result, F&& f) {
    f("steps", result.steps);
    f("seconds", result.seconds);
    f("tokens_per_s", result.tokens_per_s);
    f("best_step", result.best_step);
    f("parameters", result.parameters);
  }
  // Calls f(name, value) for each number, in the order of the file: "steps", …, "val.loss", …
  // Counts are int64_t, others double.
  template <class F>
  void visit(F&& f) const {
    visit_run(*this, [&](const char* name, const auto& value) {
      if (value) f(name, *value);
    });
    for (const auto& [split, scores] : splits)
      scores.visit([&, &in = split](const char* score, auto value) { f(in + "." + score, value); });
  }
  Json json() const;
};

// Returns the result of a run; none while it is training. Leaves out members that it does not know.
// Throws InputError if the file is damaged.
std::optional<TrainingResult> read_result(const RunFolder& run);

}  // namespace heed
